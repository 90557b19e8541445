#!/usr/bin/env python3
"""Estimates the time of a training step on 2 to 64 hosts, from times that were measured on one machine.

    mpirun -n 2 --bind-to core build/release/benchmarks/distributed --shards 2 --threads 1 --json steps.json
    mpirun -n 2 --bind-to core --mca btl tcp,self build/release/benchmarks/distributed --messages --json tcp.json
    python3 benchmarks/distributed_hosts.py steps.json tcp.json

Prints the table of docs/distributed.md. Each host runs one process, with the same work as each of the two
measured processes. The sum of G bytes in B buckets over P hosts takes the time

    R = 2 log2(P) B latency + 2 (P - 1) / P G / bandwidth.

The latency is half of the time of a sum of 64 bytes through TCP, which is two messages, one after the other.
The bandwidth is the smaller of the network's bandwidth and the rate of a sum of 16 MB through TCP.
"""

import argparse
import json
import math

NETWORKS = {"10 Gbit/s": 1.25e9, "100 Gbit/s": 12.5e9}  # bytes per second


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def step(measured, latency, bandwidth, hosts):
    """The time of a step and the time of its sum of gradients, in milliseconds."""
    size = measured["sent_bytes"]  # the size of the gradients: with two processes, each sends all of them
    buckets = math.ceil(size / measured["bucket_bytes"])
    rounds = 2 * math.log2(hosts)
    total = 1e3 * (rounds * buckets * latency + 2 * (hosts - 1) / hosts * size / bandwidth)
    hidden = measured["reduction_ms"] - measured["waited_ms"]  # the part of the sum that the backward hides
    # The last bucket starts when the backward ends, so it is never hidden.
    waits = max(total - hidden, total / buckets) + 1e3 * rounds * latency
    return measured["step_ms"] - measured["waited_ms"] + waits, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", help="the results of two processes")
    parser.add_argument("messages", help="the results of --messages")
    arguments = parser.parse_args()
    steps, messages = read(arguments.steps), read(arguments.messages)
    if any(each.get("processes") != 2 for each in steps + messages):
        parser.error("both files must have results of two processes")
    sums = {each["bytes"]: each["sum_ms"] / 1e3 for each in messages}
    latency = sums[64] / 2
    largest = max(sums)
    reached = largest / (sums[largest] - sums[64])
    print(f"latency {1e6 * latency:.1f} us, bandwidth reached {reached / 1e9:.2f} GB/s\n")
    cases = [(f"C{each['width']}", name, each, min(network, reached))
             for each in steps for name, network in NETWORKS.items()]
    print("| hosts | " + " | ".join(f"{size}, {name}" for size, name, _, _ in cases) + " |")
    print("|" + "---|" * (len(cases) + 1))
    for hosts in (2, 4, 8, 16, 32, 64):
        cells = ["{:.1f} ms (R {:.1f})".format(*step(each, latency, bandwidth, hosts))
                 for _, _, each, bandwidth in cases]
        print(f"| {hosts} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
