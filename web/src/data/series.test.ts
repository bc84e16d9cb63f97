import { describe, expect, test } from "vitest";
import { javaPanels, panels, type Panel } from "./series";
import type { Observed, Run } from "./types";

const at = [1e6, 2e6, 3e6];

const watched = (kind: string, name: string, series: Record<string, number[]>, more: Partial<Observed> = {}): Observed =>
  ({ kind, name, service: "app", at_us: at, length_us: [1e6, 1e6, 1e6], series, ...more }) as Observed;

const machine = (series: Record<string, number[]>, more: Partial<Observed> = {}) => watched("jvm", "app", series, more);

const labels = (all: Panel[], title: string) => all.find((p) => p.title === title)?.lines.map((l) => l.label);

const shown = (all: Panel[]) => all.filter((p) => p.lines.some((l) => l.y.some((v) => v !== null)));

const GI = 2 ** 30;

describe("the charts of a Java virtual machine", () => {
  test("heap with its limit, unless that makes a strip of it", () => {
    const near = javaPanels([machine({ heap_used_bytes: [1, 2, 3], heap_capacity_bytes: [4, 4, 4], heap_max_bytes: [16, 16, 16] })]);
    expect(labels(near, "Java heap")).toEqual(["used", "committed", "limit"]);
    const far = javaPanels([machine({ heap_used_bytes: [GI / 8, GI / 8, GI / 8], heap_capacity_bytes: [GI / 4, GI / 4, GI / 4], heap_max_bytes: [4 * GI, 4 * GI, 4 * GI] })]);
    expect(labels(far, "Java heap")).toEqual(["used", "committed"]);
    expect(far.find((p) => p.title === "Java heap")?.note).toBe("it may grow to 4 GiB");
  });

  test("threads by state, as far as they were read", () => {
    const all = javaPanels([machine({ java_threads_count: [9, 9, 9], threads_runnable_count: [1, 1, 1], threads_waiting_count: [5, 5, 5] }, { facts: { thread_dumps_every: "5s" } })]);
    expect(labels(all, "Java threads by state")).toEqual(["runnable", "waiting", "all"]);
    expect(all.find((p) => p.title === "Java threads by state")?.note).toContain("5s apart");
    const none = javaPanels([machine({ java_threads_count: [9, 9, 9] })]);
    expect(labels(none, "Java threads by state")).toEqual(["all"]);
    expect(none.find((p) => p.title === "Java threads by state")?.note).toContain("thread_dumps");
  });

  test("the busiest pools, without single threads and those of others", () => {
    const pool = (name: string, busy: number, size: number, more: Partial<Observed> = {}) =>
      watched("pool", name, { threads_busy_count: [busy, busy, busy], threads_count: [size, size, size] }, more);
    const all = javaPanels([machine({}), pool("a-*", 1, 10), pool("b-*", 7, 10), pool("c-*", 3, 10), pool("d-*", 2, 10), pool("single-*", 1, 1), pool("e-*", 9, 9, { instance: 1 })]);
    expect(labels(all, "Java threads in pools")).toEqual(["b-* busy", "b-* all", "c-* busy", "c-* all", "d-* busy", "d-* all"]);
    expect(all.find((p) => p.title === "Java threads in pools")?.note).toContain("3 busiest of 4 pools");
  });

  test("the CPU of its threads stands with it, that of others where it was", () => {
    const run = {
      load: {},
      observed: [
        machine({ heap_used_bytes: [1, 1, 1] }),
        watched("thread", "exec-*", { cpu_cores: [0.5, 0.5, 0.5] }),
        watched("thread", "worker", { cpu_cores: [0.25, 0.25, 0.25] }, { service: "gateway" }),
      ],
    } as unknown as Run;
    const all = panels(run);
    expect(labels(all, "CPU of Java threads by name")).toEqual(["exec-*"]);
    expect(labels(all, "Busiest threads")).toEqual(["gateway worker"]);
  });

  test("several machines are told apart, and many do not fill the page", () => {
    const all = shown(javaPanels(Array.from({ length: 6 }, (_, instance) => machine({ heap_used_bytes: [1, 1, 1], java_threads_count: [9, 9, 9] }, { instance }))));
    expect(all.filter((p) => p.title.startsWith("Java heap of ")).map((p) => p.title)).toEqual([0, 1, 2, 3].map((i) => `Java heap of app[${i}]`));
    expect(new Set(all.map((p) => p.id)).size).toBe(all.length);
    expect(all.at(-1)?.note).toContain("2 further machines");
  });

  test("without a machine there is none", () => {
    expect(shown(javaPanels([watched("service", "app", { cpu_cores: [1, 1, 1] })]))).toEqual([]);
    expect(shown(javaPanels([machine({})]))).toEqual([]);
  });
});
