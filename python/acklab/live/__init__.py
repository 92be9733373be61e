"""Live views of an emulation.

A sample of the core is a dict with the state of one second: `time`, `duration`, `flows`, `links`,
`cells`, `lateness`.

view     tables in the terminal
samples  the samples so far, for readers that wait for the next one
clients  a server whose clients cannot delay the end of the process
server   the page on localhost, with live plots
page     the layout of the page
"""
