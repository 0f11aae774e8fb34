//! Presses go the way the running app takes them: find the button in the built
//! view, take the message that the view sends for it, give it to `update`, and
//! build the view again.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;

const Model = main.Model;
const Msg = main.Msg;
const MetricsMarkup = canvas.MarkupView(Model, Msg);

/// A model with the view that was last built from it.
const Dashboard = struct {
    arena_state: std.heap.ArenaAllocator,
    model: Model,
    tree: main.AppUi.Tree,

    /// In place: the tree points into the arena.
    fn init(dashboard: *Dashboard) !void {
        dashboard.arena_state = .init(testing.allocator);
        errdefer dashboard.arena_state.deinit();
        dashboard.model = main.initialModel();
        try dashboard.rebuild();
    }

    fn deinit(dashboard: *Dashboard) void {
        dashboard.arena_state.deinit();
    }

    fn rebuild(dashboard: *Dashboard) !void {
        const arena = dashboard.arena_state.allocator();
        var view = try MetricsMarkup.init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &dashboard.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        dashboard.tree = try ui.finalize(node);
    }

    fn press(dashboard: *Dashboard, text: []const u8) !void {
        const button = try dashboard.find(.button, text);
        const msg = dashboard.tree.msgForPointer(button.id, .up) orelse return error.ButtonSendsNothing;
        main.update(&dashboard.model, msg);
        try dashboard.rebuild();
    }

    fn find(dashboard: *const Dashboard, kind: canvas.WidgetKind, text: []const u8) !canvas.Widget {
        return search(dashboard.tree.root, kind, text) orelse {
            std.debug.print("the view has no {t} with \"{s}\"\n", .{ kind, text });
            return error.WidgetNotFound;
        };
    }

    fn expectStatus(dashboard: *const Dashboard, text: []const u8) !void {
        _ = try dashboard.find(.status_bar, text);
    }

    fn chart(dashboard: *const Dashboard) !canvas.Widget {
        return searchKind(dashboard.tree.root, .chart) orelse error.WidgetNotFound;
    }

    /// The chart draws exactly these samples, oldest first.
    fn expectCharted(dashboard: *const Dashboard, samples: []const u16) !void {
        const drawn = (try dashboard.chart()).chart.series;
        try testing.expectEqual(@as(usize, 1), drawn.len);
        try testing.expectEqual(samples.len, drawn[0].values.len);
        for (samples, drawn[0].values) |expected, actual| {
            try testing.expectEqual(@as(f32, @floatFromInt(expected)), actual);
        }
    }
};

fn search(widget: canvas.Widget, kind: canvas.WidgetKind, text: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, widget.text, text)) return widget;
    for (widget.children) |child| {
        if (search(child, kind, text)) |found| return found;
    }
    return null;
}

fn searchKind(widget: canvas.Widget, kind: canvas.WidgetKind) ?canvas.Widget {
    if (widget.kind == kind) return widget;
    for (widget.children) |child| {
        if (searchKind(child, kind)) |found| return found;
    }
    return null;
}

test "the dashboard opens on the seeded samples" {
    var dashboard: Dashboard = undefined;
    try dashboard.init();
    defer dashboard.deinit();

    try dashboard.expectCharted(&main.seeded);
    try dashboard.expectStatus("12 samples, latest 88, peak 132, 1 over 100");
    _ = try dashboard.find(.text, "Up 9 from the sample before");
}

test "the next sample comes from the feed, in order and round again" {
    var dashboard: Dashboard = undefined;
    try dashboard.init();
    defer dashboard.deinit();

    try dashboard.press("Next sample");
    try dashboard.expectCharted(&(main.seeded ++ .{94}));
    try dashboard.expectStatus("13 samples, latest 94, peak 132, 1 over 100");

    for (0..2) |_| try dashboard.press("Next sample");
    try dashboard.expectStatus("15 samples, latest 87, peak 132, 2 over 100");
    _ = try dashboard.find(.text, "Down 14 from the sample before");

    for (0..2) |_| try dashboard.press("Next sample");
    // The feed began again.
    try testing.expectEqual(@as(u16, 94), dashboard.model.latest());
}

test "the oldest sample makes room, and takes its peak along" {
    var dashboard: Dashboard = undefined;
    try dashboard.init();
    defer dashboard.deinit();

    for (0..4) |_| try dashboard.press("Next sample");
    try dashboard.expectStatus("16 samples, latest 110, peak 132, 3 over 100");
    try dashboard.press("Next sample");
    try dashboard.expectCharted(&(main.seeded[1..].* ++ .{ 94, 101, 87, 110, 94 }));
    try dashboard.expectStatus("16 samples, latest 94, peak 110, 2 over 100");
}

test "starting over restores the seeds and rewinds the feed" {
    var dashboard: Dashboard = undefined;
    try dashboard.init();
    defer dashboard.deinit();

    for (0..7) |_| try dashboard.press("Next sample");
    try dashboard.press("Start over");
    try dashboard.expectCharted(&main.seeded);
    try dashboard.expectStatus("12 samples, latest 88, peak 132, 1 over 100");

    try dashboard.press("Next sample");
    try testing.expectEqual(@as(u16, 94), dashboard.model.latest());
}

test "a dashboard without samples says so instead of failing" {
    var dashboard: Dashboard = undefined;
    try dashboard.init();
    defer dashboard.deinit();

    dashboard.model = .{};
    try dashboard.rebuild();
    try dashboard.expectStatus("0 samples, latest 0, peak 0, 0 over 100");
    _ = try dashboard.find(.text, "No earlier sample to compare with");

    try dashboard.press("Next sample");
    try dashboard.expectCharted(&.{94});
    try dashboard.expectStatus("1 sample, latest 94, peak 94, 0 over 100");
}

test "the vertical axis begins at zero, and the buttons carry their symbols" {
    var dashboard: Dashboard = undefined;
    try dashboard.init();
    defer dashboard.deinit();

    try testing.expectEqual(@as(?f32, 0), (try dashboard.chart()).chart.y_min);
    for ([_][]const u8{ "Next sample", "Start over" }) |text| {
        try testing.expect((try dashboard.find(.button, text)).icon.len > 0);
    }
}

test "nothing overflows and every control is named, at every window size" {
    var dashboard: Dashboard = undefined;
    try dashboard.init();
    defer dashboard.deinit();

    try canvas.expectLayoutAuditSweepClean(testing.allocator, dashboard.tree.root, .{
        .min_size = main.window_min_size,
        .default_size = main.window_size,
    });
    try canvas.expectA11yAuditSweepClean(testing.allocator, dashboard.tree.root, .{
        .min_size = main.window_min_size,
        .default_size = main.window_size,
    });
}

test "the running dashboard announces its chart and its summary" {
    const harness = try native_sdk.TestHarness().create(testing.allocator, .{ .size = main.window_size });
    defer harness.destroy(testing.allocator);
    harness.null_platform.gpu_surfaces = true;

    const app_state = try main.MetricsApp.create(testing.allocator, main.appOptions());
    defer app_state.destroy();
    app_state.model = main.initialModel();
    try harness.start(app_state.app());
    try harness.runtime.dispatchPlatformEvent(app_state.app(), .{ .gpu_surface_frame = .{
        .label = main.canvas_label,
        .size = main.window_size,
        .scale_factor = 1,
        .frame_index = 1,
        .timestamp_ns = 1_000_000,
        .nonblank = true,
    } });

    const buffer = try testing.allocator.alloc(u8, 64 * 1024);
    defer testing.allocator.free(buffer);
    var writer = std.Io.Writer.fixed(buffer);
    try native_sdk.automation.snapshot.writeText(harness.runtime.automationSnapshot("Traffic Metrics"), &writer);
    const snapshot = writer.buffered();
    for ([_][]const u8{
        "role=chart name=\"Requests per minute\"",
        "role=button name=\"Next sample\"",
        "name=\"12 samples, latest 88, peak 132, 1 over 100\"",
    }) |announced| {
        if (std.mem.indexOf(u8, snapshot, announced) == null) {
            std.debug.print("not announced: {s}\n", .{announced});
            return error.NotAnnounced;
        }
    }
}
