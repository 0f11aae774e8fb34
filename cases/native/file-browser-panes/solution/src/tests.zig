//! The tree as a user works it: rows are pressed, opened and closed in the built
//! view. Which key does what in a tree is the engine's; what it sends is tested.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");
const screens = @import("screen.zig");

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;
const testing = std.testing;
const Screen = screens.Screen;
const Running = screens.Running;

/// The row of that name within a widget: what is announced as an entry of a tree.
fn rowIn(widget: canvas.Widget, name: []const u8) ?canvas.Widget {
    if (widget.semantics.role == .treeitem and std.mem.eql(u8, screens.announced(widget), name)) return widget;
    for (widget.children) |child| {
        if (rowIn(child, name)) |found| return found;
    }
    return null;
}

fn rowOf(screen: *const Screen, name: []const u8) !canvas.Widget {
    return rowIn(screen.tree.root, name) orelse {
        std.debug.print("the tree has no row \"{s}\"\n", .{name});
        return error.WidgetNotFound;
    };
}

fn press(screen: *Screen, name: []const u8) !void {
    const row = try rowOf(screen, name);
    try screen.send(screen.tree.msgForPointer(row.id, .up) orelse return error.ControlSendsNothing);
}

/// The tree shows these rows, in this order.
fn expectRows(screen: *const Screen, names: []const []const u8) !void {
    var found: std.ArrayList([]const u8) = .empty;
    defer found.deinit(testing.allocator);
    try collectRows(try screen.find(.tree, "Files"), &found);
    errdefer for (found.items) |name| std.debug.print("row: \"{s}\"\n", .{name});
    try testing.expectEqual(names.len, found.items.len);
    for (names, found.items) |expected, actual| try testing.expectEqualStrings(expected, actual);
}

fn collectRows(widget: canvas.Widget, out: *std.ArrayList([]const u8)) !void {
    if (widget.semantics.role == .treeitem) try out.append(testing.allocator, screens.announced(widget));
    for (widget.children) |child| try collectRows(child, out);
}

/// One row is selected, and the other pane and the status line tell of it.
fn expectSelected(screen: *const Screen, rows: []const []const u8, name: []const u8, path: []const u8, facts: []const u8) !void {
    for (rows) |row| {
        try testing.expectEqual(std.mem.eql(u8, row, name), (try rowOf(screen, row)).state.selected);
    }
    const details = try screen.find(.column, "Details");
    _ = try screens.findIn(details, .text, path);
    _ = try screens.findIn(details, .text, facts);
    var buffer: [64]u8 = undefined;
    try screen.expectSeen(.status_bar, try std.fmt.bufPrint(&buffer, "Selected: {s}", .{name}));
}

const at_first = [_][]const u8{ "docs", "guide.md", "questions.md", "src", "README.md", "LICENSE" };

test "one folder is open at first, and the readme is selected" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try expectRows(&screen, &at_first);
    try testing.expectEqual(true, (try rowOf(&screen, "docs")).state.expanded);
    try testing.expectEqual(false, (try rowOf(&screen, "src")).state.expanded);
    // A file has nothing to open.
    try testing.expectEqual(null, (try rowOf(&screen, "LICENSE")).state.expanded);
    try expectSelected(&screen, &at_first, "README.md", "README.md", "File, 2140 bytes");
}

test "pressing a row selects it, and nothing opens or closes" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try press(&screen, "guide.md");
    try expectSelected(&screen, &at_first, "guide.md", "docs/guide.md", "File, 5210 bytes");
    try press(&screen, "src");
    try expectSelected(&screen, &at_first, "src", "src", "Folder, 2 files");
    try expectRows(&screen, &at_first);
}

test "a folder opens and closes by its button and by its row's toggle" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.button, "Open src");
    try expectRows(&screen, &.{ "docs", "guide.md", "questions.md", "src", "main.zig", "parser.zig", "README.md", "LICENSE" });
    try testing.expectEqual(true, (try rowOf(&screen, "src")).state.expanded);

    // This is what the arrow keys of a tree send.
    const row = try rowOf(&screen, "docs");
    try screen.send(screen.tree.msgFor(row.id, .toggle) orelse return error.ControlSendsNothing);
    try expectRows(&screen, &.{ "docs", "src", "main.zig", "parser.zig", "README.md", "LICENSE" });
    try screen.click(.button, "Open docs");
    try screen.click(.button, "Close src");
    try expectRows(&screen, &at_first);
    // The selection was elsewhere, and stays.
    try expectSelected(&screen, &at_first, "README.md", "README.md", "File, 2140 bytes");
}

test "closing a folder over the selected file selects the folder" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try press(&screen, "questions.md");
    try screen.click(.button, "Close docs");
    const rows = [_][]const u8{ "docs", "src", "README.md", "LICENSE" };
    try expectRows(&screen, &rows);
    try expectSelected(&screen, &rows, "docs", "docs", "Folder, 2 files");
}

test "files are inside their folder's row, whatever else is open" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.button, "Open src");
    try testing.expect(rowIn(try rowOf(&screen, "src"), "parser.zig") != null);
    try testing.expect(rowIn(try rowOf(&screen, "docs"), "parser.zig") == null);
}

test "dragging the divider is echoed by the model" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const split = firstOf(screen.tree.root, .split) orelse return error.WidgetNotFound;
    try testing.expectApproxEqAbs(0.36, split.value, 0.001);
    try screen.send(screen.tree.msgForResize(split.id, 0.5) orelse return error.ControlSendsNothing);
    try testing.expectApproxEqAbs(0.5, firstOf(screen.tree.root, .split).?.value, 0.001);
}

fn firstOf(widget: canvas.Widget, kind: canvas.WidgetKind) ?canvas.Widget {
    if (widget.kind == kind) return widget;
    for (widget.children) |child| {
        if (firstOf(child, kind)) |found| return found;
    }
    return null;
}

test "neither pane can be made narrower than what it holds" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    for ([_]f32{ 0.02, 0.98 }) |share| {
        try screen.send(.{ .panes_resized = share });
        var nodes: [256]canvas.WidgetLayoutNode = undefined;
        const window = geometry.RectF.init(0, 0, main.window_size.width, main.window_size.height);
        const layout = try canvas.layoutWidgetTree(screen.tree.root, window, &nodes);
        const details = try screen.find(.column, "Details");
        for (layout.nodes) |node| {
            if (node.widget.id != details.id) continue;
            try testing.expect(node.frame.width >= 260);
            try testing.expect(node.frame.x >= 180);
        }
    }
}

test "the view is sound at every size of the window" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.click(.button, "Open src");
    try screen.expectSound();
}

test "the running app announces divider, tree and rows, and its keys work" {
    const running = try Running.start();
    defer running.stop();
    try running.expectAnnounced(&.{
        &.{"role=separator"},
        &.{ "role=tree ", "name=\"Files\"" },
        &.{ "role=treeitem", "name=\"docs\"", "expanded" },
        &.{ "role=treeitem", "name=\"src\"", "collapsed" },
        &.{ "role=treeitem", "name=\"README.md\"", "selected" },
        &.{"name=\"Selected: README.md\""},
    });

    const row = rowIn(running.app_state.tree.?.root, "src") orelse return error.WidgetNotFound;
    try running.command("widget-action {s} {d} focus", .{ main.canvas_label, row.id });
    try running.command("widget-key {s} arrowright", .{main.canvas_label});
    try running.expectAnnounced(&.{&.{ "role=treeitem", "name=\"main.zig\"" }});
    try running.command("widget-key {s} arrowdown", .{main.canvas_label});
    try running.expectAnnounced(&.{&.{"name=\"Selected: main.zig\""}});
    try running.command("widget-key {s} arrowleft", .{main.canvas_label});
    try running.expectAnnounced(&.{&.{"name=\"Selected: src\""}});
}
