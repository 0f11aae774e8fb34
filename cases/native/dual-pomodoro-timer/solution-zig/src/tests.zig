//! Phases whose ticks are played: what is armed, what ends, what is counted and
//! heard.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;
const focus_seconds = main.Phase.focus.seconds();
const rest_seconds = main.Phase.rest.seconds();

/// The model, the view of it, and a channel that neither waits nor plays.
const Timer = struct {
    arena_state: std.heap.ArenaAllocator,
    model: main.Model,
    fx: main.Effects,
    tree: main.AppUi.Tree,

    fn init(timer: *Timer) !void {
        timer.arena_state = .init(testing.allocator);
        timer.model = main.initialModel();
        timer.fx = .init(testing.allocator);
        timer.fx.executor = .fake;
        try timer.rebuild();
    }

    fn deinit(timer: *Timer) void {
        timer.fx.deinit();
        timer.arena_state.deinit();
    }

    fn rebuild(timer: *Timer) !void {
        const arena = timer.arena_state.allocator();
        var view = try canvas.MarkupView(main.Model, main.Msg).init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &timer.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        timer.tree = try ui.finalize(node);
    }

    fn press(timer: *Timer, name: []const u8) !void {
        const button = find(timer.tree.root, .button, name) orelse return error.WidgetNotFound;
        const msg = timer.tree.msgForPointer(button.id, .up) orelse return error.ButtonSendsNothing;
        main.update(&timer.model, msg, &timer.fx);
        try timer.rebuild();
    }

    fn seconds(timer: *Timer, count: usize) !void {
        for (0..count) |_| {
            const armed = timer.fx.pendingTimerAt(0) orelse return error.NoTimer;
            try timer.fx.fireTimer(armed.key);
            while (timer.fx.takeMsg()) |msg| main.update(&timer.model, msg, &timer.fx);
        }
        try timer.rebuild();
    }

    fn expectSeen(timer: *const Timer, phase: []const u8, clock: []const u8) !void {
        for ([_][]const u8{ phase, clock }) |text| {
            if (find(timer.tree.root, .text, text) != null) continue;
            std.debug.print("no text says \"{s}\"\n", .{text});
            return error.WidgetNotFound;
        }
    }

    fn expectSummary(timer: *const Timer, summary: []const u8) !void {
        if (find(timer.tree.root, .status_bar, summary) == null) return error.WidgetNotFound;
    }

    /// A sound since the last time; then it is forgotten.
    fn sounded(timer: *Timer) bool {
        defer timer.fx.stopAudio();
        return timer.fx.pendingAudio() != null;
    }
};

fn find(widget: canvas.Widget, kind: canvas.WidgetKind, text: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, widget.text, text)) return widget;
    for (widget.children) |child| {
        if (find(child, kind, text)) |found| return found;
    }
    return null;
}

test "start arms a timer of a second, pause disarms it" {
    var timer: Timer = undefined;
    try timer.init();
    defer timer.deinit();
    try timer.expectSeen("Focus", "25:00");
    try testing.expectEqual(0, timer.fx.pendingTimerCount());

    try timer.press("Start");
    const armed = timer.fx.pendingTimerAt(0).?;
    try testing.expectEqual(1000, armed.interval_ms);
    try testing.expectEqual(native_sdk.TimerMode.repeating, armed.mode);
    try testing.expect(find(timer.tree.root, .button, "Start").?.state.disabled);
    try timer.seconds(61);
    try timer.expectSeen("Focus", "23:59");

    try timer.press("Pause");
    try testing.expectEqual(0, timer.fx.pendingTimerCount());
    try testing.expect(find(timer.tree.root, .button, "Pause").?.state.disabled);
    // One was on its way.
    main.update(&timer.model, .{ .tick = .{ .key = armed.key } }, &timer.fx);
    try timer.rebuild();
    try timer.expectSeen("Focus", "23:59");

    try timer.press("Start");
    try testing.expectEqual(1, timer.fx.pendingTimerCount());
    try timer.seconds(1);
    try timer.expectSeen("Focus", "23:58");
}

test "phases end by themselves, heard, and only focus is counted" {
    var timer: Timer = undefined;
    try timer.init();
    defer timer.deinit();
    try timer.press("Start");
    try timer.seconds(focus_seconds - 1);
    try timer.expectSeen("Focus", "00:01");
    try testing.expect(!timer.sounded());

    try timer.seconds(1);
    try timer.expectSeen("Rest", "05:00");
    try timer.expectSummary("1 focus phase done");
    try testing.expectEqualStrings(main.chime_path, timer.fx.pendingAudio().?.path);
    // There is no such file yet: nothing comes of it.
    try timer.fx.feedAudioEvent(.failed, 0, 0, false);
    try timer.seconds(1);
    try timer.expectSeen("Rest", "04:59");
    _ = timer.sounded();

    try timer.seconds(rest_seconds - 1);
    try timer.expectSeen("Focus", "25:00");
    try timer.expectSummary("1 focus phase done");
    try testing.expect(timer.sounded());
    try testing.expectEqual(1, timer.fx.pendingTimerCount());
}

test "skipping is silent, counts nothing, and leaves the timer as it is" {
    var timer: Timer = undefined;
    try timer.init();
    defer timer.deinit();
    try timer.press("Skip");
    try timer.expectSeen("Rest", "05:00");
    try testing.expectEqual(0, timer.fx.pendingTimerCount());
    try timer.press("Start");
    try timer.seconds(10);
    try timer.press("Skip");
    try timer.expectSeen("Focus", "25:00");
    try testing.expectEqual(1, timer.fx.pendingTimerCount());
    try timer.expectSummary("0 focus phases done");
    try testing.expect(!timer.sounded());
}

test "reset is a focus phase that does not run, and keeps the count" {
    var timer: Timer = undefined;
    try timer.init();
    defer timer.deinit();
    try timer.press("Start");
    try timer.seconds(focus_seconds + 30);
    try timer.press("Reset");
    try timer.expectSeen("Focus", "25:00");
    try timer.expectSummary("1 focus phase done");
    try testing.expectEqual(0, timer.fx.pendingTimerCount());
}

test "a timer that the system refuses is no running phase" {
    var timer: Timer = undefined;
    try timer.init();
    defer timer.deinit();
    try timer.press("Start");
    main.update(&timer.model, .{ .tick = .{ .key = 1, .outcome = .rejected } }, &timer.fx);
    try testing.expect(!timer.model.running);
    try testing.expectEqual(focus_seconds, timer.model.remaining);
}

test "the bar fills while the phase goes on" {
    var model = main.initialModel();
    try testing.expectEqual(0, model.progress());
    model.remaining = focus_seconds / 4;
    try testing.expectApproxEqAbs(0.75, model.progress(), 0.001);
}

test "the view is laid out whole" {
    var timer: Timer = undefined;
    try timer.init();
    defer timer.deinit();
    const size = native_sdk.geometry.SizeF.init(480, 320);
    try canvas.expectLayoutAuditSweepClean(testing.allocator, timer.tree.root, .{ .min_size = size, .default_size = size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, timer.tree.root, .{ .min_size = size, .default_size = size });
}
