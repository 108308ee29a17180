"""``rocketwire-admin``: operate RocketMQ, produce and consume from a shell.

The words: a *command* is what follows the program's name; what it returns, a *table* or a *record*, is an *output*, printed in one of
three forms; *settings* say how to connect, and come from options, the environment and a profile.
"""
