"""What a person sees of an emulation while it runs.

A sample of the core is a dict with the state of one second: `time`, `duration`, `flows`, `links`, `cells`, `lateness`.

view    tables in the terminal
server  the same as a page on localhost, with plots that move
page    how the page looks
"""
