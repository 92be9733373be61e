#!/bin/sh
# What the scripts of this folder begin with.
sysctl -q net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_ecn=0
sysctl -q net.ipv4.tcp_rmem="4096 540000 $((15*1024*1024))"
