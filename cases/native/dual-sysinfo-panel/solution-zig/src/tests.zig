//! Readings whose command is played: what is asked for, how each end is told,
//! and which lines are none.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;

/// The model, the view of it, and a channel that starts no process.
const Panel = struct {
    arena_state: std.heap.ArenaAllocator,
    model: main.Model,
    fx: main.Effects,
    tree: main.AppUi.Tree,

    fn init(panel: *Panel) !void {
        panel.arena_state = .init(testing.allocator);
        panel.model = main.initialModel();
        panel.fx = .init(testing.allocator);
        panel.fx.executor = .fake;
        try panel.rebuild();
    }

    fn deinit(panel: *Panel) void {
        panel.fx.deinit();
        panel.arena_state.deinit();
    }

    fn rebuild(panel: *Panel) !void {
        const arena = panel.arena_state.allocator();
        var view = try canvas.MarkupView(main.Model, main.Msg).init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &panel.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        panel.tree = try ui.finalize(node);
    }

    fn readButton(panel: *const Panel) !canvas.Widget {
        return find(panel.tree.root, .button, "Read") orelse error.WidgetNotFound;
    }

    fn press(panel: *Panel) !void {
        const button = try panel.readButton();
        main.update(&panel.model, panel.tree.msgForPointer(button.id, .up) orelse return error.ButtonSendsNothing, &panel.fx);
        try panel.rebuild();
    }

    fn end(panel: *Panel, code: i32, reason: native_sdk.EffectExitReason, output: []const u8) !void {
        const key = panel.fx.pendingSpawnAt(0).?.key;
        try panel.fx.feedOutput(key, output);
        try panel.fx.feedExitReason(key, code, reason);
        while (panel.fx.takeMsg()) |msg| main.update(&panel.model, msg, &panel.fx);
        try panel.rebuild();
    }

    fn expectStatus(panel: *const Panel, status: []const u8) !void {
        if (find(panel.tree.root, .status_bar, status) != null) return;
        std.debug.print("the status bar does not say \"{s}\"\n", .{status});
        return error.WidgetNotFound;
    }

    fn expectCell(panel: *const Panel, text: []const u8) !void {
        if (find(panel.tree.root, .data_cell, text) != null) return;
        std.debug.print("no cell says \"{s}\"\n", .{text});
        return error.WidgetNotFound;
    }
};

fn find(widget: canvas.Widget, kind: canvas.WidgetKind, text: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, widget.text, text)) return widget;
    for (widget.children) |child| {
        if (find(child, kind, text)) |found| return found;
    }
    return null;
}

test "nothing runs before the button is pressed" {
    var panel: Panel = undefined;
    try panel.init();
    defer panel.deinit();
    try testing.expectEqual(0, panel.fx.pendingSpawnCount());
    try panel.expectStatus("Not read yet");
    try testing.expect(!panel.model.known());
}

test "the button runs uname once, and is unavailable until it ended" {
    var panel: Panel = undefined;
    try panel.init();
    defer panel.deinit();

    try panel.press();
    const request = panel.fx.pendingSpawnAt(0).?;
    try testing.expectEqual(native_sdk.EffectOutputMode.collect, request.output);
    try testing.expectEqual(main.command.len, request.argv.len);
    for (main.command, request.argv) |expected, actual| try testing.expectEqualStrings(expected, actual);
    try panel.expectStatus("Reading");
    try testing.expect((try panel.readButton()).state.disabled);

    // Asked by some other way, there is still one command, and no refusal.
    main.update(&panel.model, .probe, &panel.fx);
    try testing.expectEqual(1, panel.fx.pendingSpawnCount());
    try testing.expectEqual(null, panel.fx.takeMsg());

    try panel.end(0, .exited, "Linux atlas 6.8.0 x86_64\n");
    try panel.expectStatus("Up to date");
    try testing.expect(!(try panel.readButton()).state.disabled);
    for ([_][]const u8{ "Linux", "atlas", "6.8.0", "x86_64" }) |value| try panel.expectCell(value);
}

test "a line is four words, whatever the blanks are" {
    const info = main.Info.parse(" \tDarwin  studio\t23.4.0 arm64 \r\n\n").?;
    try testing.expectEqualStrings("arm64", info.machine.bytes[0..info.machine.len]);
    for ([_][]const u8{ "", "\n", "a b c", "a b c d e", "a b\nc d", "a b c d\na b c d" }) |output| {
        try testing.expectEqual(null, main.Info.parse(output));
    }
    const long: [main.max_word_bytes + 1]u8 = @splat('x');
    try testing.expect(main.Info.parse("a b c " ++ long[1..]) != null);
    try testing.expectEqual(null, main.Info.parse("a b c " ++ long));
}

test "each kind of end is told, and the last good reading stays" {
    var panel: Panel = undefined;
    try panel.init();
    defer panel.deinit();
    try panel.press();
    try panel.end(0, .exited, "Linux atlas 6.8.0 x86_64\n");

    const ends = [_]struct { i32, native_sdk.EffectExitReason, []const u8, []const u8 }{
        .{ 3, .exited, "BSD b 1 amd64", "uname failed with code 3" },
        .{ 0, .exited, "BSD b 1", "uname said something unexpected" },
        .{ -1, .signaled, "", "uname was stopped before it was done" },
        .{ -1, .cancelled, "", "uname was stopped before it was done" },
        .{ -1, .spawn_failed, "", "uname could not be started" },
        .{ -1, .rejected, "", "uname could not be started" },
    };
    for (ends) |how| {
        try panel.press();
        try panel.expectCell("atlas");
        try panel.end(how[0], how[1], how[2]);
        try panel.expectStatus(how[3]);
        try panel.expectCell("atlas");
    }

    try panel.press();
    try panel.end(0, .exited, "BSD b 1 amd64");
    try panel.expectStatus("Up to date");
    try panel.expectCell("amd64");
}

test "output that came cut off is no reading" {
    var panel: Panel = undefined;
    try panel.init();
    defer panel.deinit();
    main.update(&panel.model, .{ .probed = .{ .key = 1, .code = 0, .output = "Linux atlas 6.8.0 x86_64", .output_truncated = true } }, &panel.fx);
    try testing.expectEqual(main.State.unreadable, panel.model.state);
    try testing.expect(!panel.model.known());
}

test "the view is laid out whole" {
    var panel: Panel = undefined;
    try panel.init();
    defer panel.deinit();
    try panel.press();
    try panel.end(0, .exited, "Linux atlas 6.8.0-45-generic x86_64\n");
    const size = native_sdk.geometry.SizeF.init(480, 320);
    try canvas.expectLayoutAuditSweepClean(testing.allocator, panel.tree.root, .{ .min_size = size, .default_size = size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, panel.tree.root, .{ .min_size = size, .default_size = size });
}
