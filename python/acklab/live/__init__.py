"""What a person sees of an emulation while it runs.

A sample of the core is a dict with the state of one second: `time`, `duration`, `flows`, `links`, `cells`, `lateness`.

view     tables in the terminal
samples  the samples so far, for readers that wait for the next one
clients  a server whose clients cannot keep the process from ending
server   the page on localhost, with plots that move
page     how the page looks
"""
