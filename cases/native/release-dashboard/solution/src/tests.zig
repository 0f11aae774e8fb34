//! The release as the view tells it, moved by the buttons of the built view.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");
const screens = @import("screen.zig");

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;
const testing = std.testing;
const Screen = screens.Screen;
const Running = screens.Running;

/// What is announced of every list item below a widget, in order.
fn items(widget: canvas.Widget, out: *std.ArrayList([]const u8), gpa: std.mem.Allocator) !void {
    if (widget.semantics.role == .listitem) try out.append(gpa, screens.announced(widget));
    for (widget.children) |child| try items(child, out, gpa);
}

fn labelled(widget: canvas.Widget, label: []const u8) ?canvas.Widget {
    if (std.mem.eql(u8, widget.semantics.label, label)) return widget;
    for (widget.children) |child| {
        if (labelled(child, label)) |found| return found;
    }
    return null;
}

fn expectItems(screen: *const Screen, list: []const u8, expected: []const []const u8) !void {
    var found: std.ArrayList([]const u8) = .empty;
    defer found.deinit(testing.allocator);
    try items(labelled(screen.tree.root, list) orelse return error.WidgetNotFound, &found, testing.allocator);
    errdefer for (found.items) |name| std.debug.print("{s}: \"{s}\"\n", .{ list, name });
    try testing.expectEqual(expected.len, found.items.len);
    for (expected, found.items) |name, actual| try testing.expectEqualStrings(name, actual);
}

test "the release opens in its third stage, with how it got there" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try expectItems(&screen, "Stages", &.{ "Build (completed)", "Verify (completed)", "Canary (active)", "Ramp (pending)", "Live (pending)" });
    try expectItems(&screen, "History", &.{ "Build started", "Verify started", "Canary started" });
    try screen.expectSeen(.text, "Serving one request in twenty");
    try screen.expectSeen(.status_bar, "Release 4.2: Canary, stage 3 of 5");
}

test "advancing enters the next stage and adds to the history" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.button, "Advance");
    try expectItems(&screen, "Stages", &.{ "Build (completed)", "Verify (completed)", "Canary (completed)", "Ramp (active)", "Live (pending)" });
    try expectItems(&screen, "History", &.{ "Build started", "Verify started", "Canary started", "Ramp started" });
    try screen.expectSeen(.status_bar, "Release 4.2: Ramp, stage 4 of 5");
}

test "rolling back is part of the history, not the end of it" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.button, "Roll back");
    try expectItems(&screen, "Stages", &.{ "Build (completed)", "Verify (active)", "Canary (pending)", "Ramp (pending)", "Live (pending)" });
    try expectItems(&screen, "History", &.{ "Build started", "Verify started", "Canary started", "Rolled back to Verify" });

    try screen.click(.button, "Advance");
    try expectItems(&screen, "History", &.{ "Build started", "Verify started", "Canary started", "Rolled back to Verify", "Canary started" });
    try screen.expectSeen(.status_bar, "Release 4.2: Canary, stage 3 of 5");
}

test "there is nothing after the last stage, and nothing before the first" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    for (0..2) |_| try screen.click(.button, "Advance");
    try screen.expectSeen(.status_bar, "Release 4.2: Live, stage 5 of 5");
    try testing.expect((try screen.find(.button, "Advance")).state.disabled);
    const events = screen.model.history().len;
    try screen.send(.advance);
    try testing.expectEqual(events, screen.model.history().len);

    for (0..4) |_| try screen.click(.button, "Roll back");
    try screen.expectSeen(.status_bar, "Release 4.2: Build, stage 1 of 5");
    try testing.expect((try screen.find(.button, "Roll back")).state.disabled);
    try screen.send(.roll_back);
    try testing.expectEqual(events + 4, screen.model.history().len);
}

test "a long history keeps its last events, and nothing of the oldest" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    while (screen.model.history().len < main.max_events) {
        try screen.send(.advance);
        if (screen.model.history().len < main.max_events) try screen.send(.roll_back);
    }
    const second = labelled(screen.tree.root, "History").?.children[1];
    try screen.send(.roll_back);
    try screen.send(.advance);
    try testing.expectEqual(main.max_events, screen.model.history().len);
    // Two were added and the two oldest are gone.
    const list = labelled(screen.tree.root, "History").?;
    try testing.expectEqual(main.max_events, list.children.len);
    for (list.children) |item| try testing.expect(item.id != second.id);

    // A view may have 1024 widgets, and the longest history stays within them.
    const nodes = try testing.allocator.alloc(canvas.WidgetLayoutNode, 1024);
    defer testing.allocator.free(nodes);
    const frame = geometry.RectF.init(0, 0, main.window_size.width, main.window_size.height);
    _ = try canvas.layoutWidgetTree(screen.tree.root, frame, nodes);
}

test "the notes are formatted: a heading, a list, a table with its cells" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const notes = labelled(screen.tree.root, "Release notes") orelse return error.WidgetNotFound;
    var cells: usize = 0;
    countRole(notes, .gridcell, &cells);
    try testing.expectEqual(12, cells);
    // No mark of the notation is left.
    try expectNoText(notes, "|");
    try expectNoText(notes, "**");
    try expectNoText(notes, "# ");
}

fn countRole(widget: canvas.Widget, role: canvas.WidgetRole, count: *usize) void {
    if (widget.semantics.role == role or (role == .gridcell and widget.kind == .data_cell)) count.* += 1;
    for (widget.children) |child| countRole(child, role, count);
}

fn expectNoText(widget: canvas.Widget, text: []const u8) !void {
    try testing.expectEqual(null, std.mem.indexOf(u8, widget.text, text));
    for (widget.children) |child| try expectNoText(child, text);
}

test "the view is sound at every size of the window" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectSound();
}

test "the running app announces stages, history and the cells of the notes" {
    const running = try Running.start();
    defer running.stop();
    try running.expectAnnounced(&.{
        &.{ "role=listitem", "name=\"Verify (completed)\"" },
        &.{ "role=listitem", "name=\"Canary (active)\"", "selected" },
        &.{ "role=listitem", "name=\"Ramp (pending)\"" },
        &.{ "role=listitem", "name=\"Build started\"" },
        &.{ "role=gridcell", "name=\"5.1.2\"" },
        &.{ "role=button", "name=\"Advance\"", "enabled=true" },
        &.{"name=\"Release 4.2: Canary, stage 3 of 5\""},
    });
}
