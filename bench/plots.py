"""The plots of docs/performance.md."""

import os
import statistics
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402  (after the choice of what draws)
from matplotlib import patches, ticker  # noqa: E402

import growth  # noqa: E402
import looks  # noqa: E402
import report  # noqa: E402

MOST_SLOTS = 128  # in a batch
TITLES = dict(report.PLOTS)


def points(results, workload, subject, cases):
    """(x, rate) for each (x, size, threads) that was measured."""
    found = [(x, results.rate(f"{workload}/{subject}/{size}/{threads}"))
             for x, size, threads in cases]
    return [(x, rate) for x, rate in found if rate]


def plain(value, _=None):
    """A number as people read it: 0.5, 20, 1,024."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def plain_ticks(axis):
    """1, 2, 5, 10 and so on; all with their numbers."""
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(plain)
    axis.set_minor_locator(ticker.NullLocator())


def ticks_at(axis, places):
    """Where there are points, and nowhere else."""
    axis.set_major_locator(ticker.FixedLocator(places))
    axis.set_major_formatter(plain)
    axis.set_minor_locator(ticker.NullLocator())


def title(figure, name):
    figure.suptitle(textwrap.fill(TITLES[name], 92), fontsize=11)


def save(figure, folder, name):
    title(figure, name)
    figure.tight_layout()
    figure.savefig(os.path.join(folder, name), dpi=110, metadata={"Software": None})
    plot.close(figure)


def draw_lines(folder, name, lines, across, up):
    """`lines`: of (label, subject, is_hollow, x and y of points); the legend has them as they end."""
    figure, axes = plot.subplots(figsize=(9, 4.8))
    for label, subject, is_hollow, found in sorted(lines, key=lambda line: -line[3][-1][1]):
        look = looks.look_of(subject)
        axes.plot(*zip(*found), look.line, marker=look.marker, color=look.colour, label=label,
                  markerfacecolor="none" if is_hollow else look.colour, zorder=3 if is_hollow else 2)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks_at(axes.xaxis, sorted({x for line in lines for x, _ in line[3]}))
    plain_ticks(axes.yaxis)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), handlelength=3)
    save(figure, folder, name)


def over_threads(results, folder, chosen):
    lines = []
    for subject in chosen.subjects:
        found = points(results, chosen.workload, subject,
                       [(threads, chosen.size, threads) for threads in looks.THREADS])
        if found:
            lines.append((subject, subject, False, [(x, rate / 1e6) for x, rate in found]))
    if lines:
        draw_lines(folder, chosen.name, lines, f"threads ({results.context['cores']} cores)",
                   f"million {chosen.items} a second")


def over_sizes(results, folder, chosen):
    """Hollow: all in one open read section."""
    several = len({workload for workload, _ in chosen.series}) > 1
    lines = []
    for workload, subject in chosen.series:
        found = points(results, workload, subject, [(size, size, 1) for size in chosen.sizes])
        if found:
            lines.append((f"{subject}, {workload}" if several else subject, subject,
                          workload == "resolve_open", [(x, 1e9 / rate) for x, rate in found]))
    if lines:
        draw_lines(folder, chosen.name, lines, "objects", "nanoseconds an id")


def reads(results, folder, name):
    size = 16384
    figure, axes = plot.subplots(figsize=(9, 4.8))
    for shift, workload, threads, hatch in ((-0.2, "read_alone", 1, ""),
                                            (0.2, "read_under_churn", 2, "////")):
        for at, subject in enumerate(looks.READS):
            rate = results.rate(f"{workload}/{subject}/{size}/{threads}")
            if rate:
                bar = axes.bar(at + shift, rate / 1e6, width=0.38, hatch=hatch, edgecolor="white",
                               color=looks.look_of(subject).colour)
                axes.bar_label(bar, [report.number(rate / 1e6)], fontsize=7)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(plain)
    axes.set_xticks(range(len(looks.READS)), looks.READS, rotation=20, ha="right", fontsize=8)
    axes.set_ylabel("million ids a second")
    axes.grid(True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.legend(handles=[patches.Patch(color="#777777", label="alone"),
                         patches.Patch(facecolor="#777777", edgecolor="white", hatch="////",
                                       label="beside a thread at full churn")], fontsize=8)
    save(figure, folder, name)


def over_growth(results, folder, name):
    """A panel for each thing that grows."""
    if not any(growth.series(results, group) for group in growth.GROUPS):
        return
    figure, panels = plot.subplots(1, len(growth.GROUPS), figsize=(13, 5), sharey=True)
    for axes, group in zip(panels, growth.GROUPS):
        lines = dict(zip(group.contracts, looks.GROWTH_LINES))
        for (call, subject), row in growth.series(results, group).items():
            found = sorted((size, statistics.median(values)) for size, values in row.items())
            axes.plot(*zip(*found), lines[call].line, marker=lines[call].marker, markersize=4,
                      color=looks.GROWTH[subject], label=f"{call}, {subject}")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(plain)
        axes.set_xlabel(group.what)
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncol=2)
    panels[0].set_ylabel("nanoseconds a call")
    save(figure, folder, name)


def scaling(results, path):
    """A panel for each workload, from 1 thread to as many as were measured."""
    figure, panels = plot.subplots(2, 2, figsize=(11, 8))
    cases = [report.split(name) for name in results.counters]
    for axes, workload in zip(panels.flat, report.SCALING):
        subjects = sorted({case[1] for case in cases if case[0] == workload})
        for subject in subjects:
            found = sorted(points(results, workload, subject,
                                  [(case[3], case[2], case[3]) for case in cases
                                   if case[:2] == (workload, subject)]))
            look = looks.look_of(subject)
            axes.plot(*zip(*[(x, rate / 1e6) for x, rate in found]), look.line, marker=look.marker,
                      color=look.colour, label=subject)
        axes.axvline(results.context["cores"], color="black", alpha=0.2)
        axes.set_title(workload, fontsize=10)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks_at(axes.xaxis, sorted({case[3] for case in cases if case[0] == workload}))
        plain_ticks(axes.yaxis)
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=7)
    figure.supxlabel(f"threads (line: {results.context['cores']} cores)")
    figure.supylabel("million items a second")
    keep(figure, path)


def draw_backlog(axes, series, subject):
    colour = looks.look_of(subject).colour
    times, retired, waiting = series
    axes.plot(times, retired, linewidth=1, color="#888888")
    axes.fill_between(times, [batches * MOST_SLOTS for batches in waiting], color=colour, linewidth=0)
    axes.axvspan(0.4 * times[-1], 0.6 * times[-1], color="black", alpha=0.12, linewidth=0, zorder=0)
    axes.set_title(subject, fontsize=8, loc="left", pad=3, color=colour)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, times[-1])
    axes.yaxis.set_major_formatter(plain)
    axes.tick_params(labelsize=8)
    axes.grid(True, alpha=0.3)


def backlog(results, folder, name):
    """A panel for each subject: lines that go up and down like these hide each other."""
    found = [(subject, results.series(f"backlog/{subject}/1024/2")) for subject in looks.BACKLOG]
    found = [(subject, series) for subject, series in found if series]
    if not found:
        return
    figure, panels = plot.subplots(len(found), figsize=(9, 1.5 * len(found) + 1), sharex=True,
                                   sharey=True, squeeze=False)
    for axes, (subject, series) in zip(panels[:, 0], found):
        draw_backlog(axes, series, subject)
    panels[-1, 0].set_xlabel("milliseconds; grey: a reader stays in its section")
    figure.supylabel("slots: line, freed and not reclaimed; filled, wait for a grace period",
                     fontsize=9)
    save(figure, folder, name)


def keep(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=110, format="png", metadata={"Software": None})
    plot.close(figure)


def draw_blocked(axes, subject, run):
    colour = looks.look_of(subject).colour
    times = [0, *run["seconds"]]
    axes.fill_between(times, [0, *(count / 2**20 for count in run["waiting"])], color=colour,
                      linewidth=0, step="pre")
    axes.plot(times, [0, *(count / 2**20 for count in run["used"])], linewidth=1, color="black",
              drawstyle="steps-pre")
    axes.axhline(run["bound"] / 2**20, color="#d62728", linestyle="--", linewidth=1)
    axes.axvspan(run["from"], run["to"], color="black", alpha=0.08, linewidth=0, zorder=0)
    said = ""
    if run["reported_wait"]:
        axes.axvline(run["reported"], color="black", linestyle=":", linewidth=1)
        said = f"; reported after {run['reported_wait']:.2f} s" + \
            (", with its thread" if run["names_thread"] else "")
    axes.set_title(subject + said, fontsize=8, loc="left", pad=3, color=colour)
    axes.set_ylim(0, run["bound"] / 2**20 * 1.2)
    axes.set_xlim(0, times[-1])
    axes.tick_params(labelsize=8)


def blocked(results, path):
    """A panel for each clock."""
    found = [(report.split(name)[1], run) for name, run in results.counters.items()]
    figure, panels = plot.subplots(len(found), figsize=(9, 1.2 * len(found) + 1), sharex=True,
                                   sharey=True, squeeze=False)
    for axes, (subject, run) in zip(panels[:, 0], found):
        draw_blocked(axes, subject, run)
    panels[-1, 0].set_xlabel("seconds; grey: a thread blocks inside a section; dotted: the stall report")
    figure.supylabel("MiB: filled, waits for a grace period; line, slots ever used; dashed, the bound", fontsize=9)
    figure.suptitle("Memory while two threads churn and a third one blocks", fontsize=11)
    keep(figure, path)


def medians_of(runs):
    return [statistics.median(values) for values in zip(*runs)]


def pauses(results, path):
    """A panel for each call: what part of the calls takes how long."""
    figure, panels = plot.subplots(1, len(report.CALLS), figsize=(12, 4.2), sharey=True)
    for axes, call in zip(panels, report.CALLS):
        for name, counters in results.counters.items():
            workload, subject, _, _ = report.split(name)
            if workload == call and subject in looks.PAUSES:
                look = looks.PAUSES[subject]
                nanoseconds = [max(ns, 1) for ns in medians_of(counters["ns"])]  # a clock may say 0
                axes.plot(range(len(report.PARTS)), nanoseconds, look.line,
                          marker=look.marker, color=look.colour, label=subject)
        axes.set_title(call, fontsize=10)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(plain)
        axes.set_xticks(range(len(report.PARTS)), report.PARTS, rotation=45, fontsize=8)
        axes.grid(True, alpha=0.3)
    panels[0].set_ylabel("nanoseconds")
    # Of the first one: a table in Rust has no quiescent points.
    panels[-1].legend(*panels[0].get_legend_handles_labels(), fontsize=8, loc="center left",
                      bbox_to_anchor=(1, 0.5))
    keep(figure, path)


def write(results, folder):
    os.makedirs(folder, exist_ok=True)
    for chosen in looks.OVER_THREADS:
        over_threads(results, folder, chosen)
    for chosen in looks.OVER_SIZES:
        over_sizes(results, folder, chosen)
    reads(results, folder, "reads.png")
    over_growth(results, folder, "growth.png")
    backlog(results, folder, "backlog.png")
