"""``rocketwire-admin``: operate RocketMQ, produce and consume from a shell.

A *command* follows the program's name. It returns an *output* (a *table*, a *record* or text),
which is printed in one of three forms. *Settings* configure the connection; they come from options,
the environment and a profile.
"""
