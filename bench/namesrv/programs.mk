# The C programs of the name server's benchmark, built into .cache/bench: make -f bench/namesrv/programs.mk

BENCH_CC       ?= gcc
BENCH_CFLAGS   ?= -O2 -std=gnu11 -Wall -Wextra
BENCH_PROGRAMS := $(addprefix .cache/bench/,loadgen spin)

.PHONY: bench-programs
bench-programs: $(BENCH_PROGRAMS)

.cache/bench/%: bench/namesrv/%.c bench/namesrv/common.h
	@mkdir -p $(@D)
	@$(BENCH_CC) $(BENCH_CFLAGS) -o $@.$$PPID $< && mv $@.$$PPID $@
