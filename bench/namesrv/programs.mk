# The C programs of the name server's benchmark, built into .cache/bench.  Run from the checkout:
#   make -f bench/namesrv/programs.mk
# or include it: it has the one target bench-programs, and no default of its own where another Makefile has one.

BENCH_CC       ?= gcc
BENCH_CFLAGS   ?= -O2 -std=gnu11 -Wall -Wextra
BENCH_PROGRAMS := $(addprefix .cache/bench/,loadgen cserver spin)

.PHONY: bench-programs
bench-programs: $(BENCH_PROGRAMS)

.cache/bench/%: bench/namesrv/%.c bench/namesrv/common.h
	@mkdir -p $(@D)
	@$(BENCH_CC) $(BENCH_CFLAGS) -o $@.new $< && mv $@.new $@
