//! The packing list, used through the built view.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;

/// A model and its view. The view is built anew after each message.
const Screen = struct {
    arena_state: std.heap.ArenaAllocator,
    model: main.Model,
    tree: main.AppUi.Tree,

    fn init(screen: *Screen) !void {
        screen.arena_state = .init(testing.allocator);
        errdefer screen.arena_state.deinit();
        screen.model = main.initialModel();
        try screen.build();
    }

    fn deinit(screen: *Screen) void {
        screen.arena_state.deinit();
    }

    fn build(screen: *Screen) !void {
        const arena = screen.arena_state.allocator();
        var view = try canvas.MarkupView(main.Model, main.Msg).init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &screen.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        screen.tree = try ui.finalize(node);
    }

    fn send(screen: *Screen, msg: main.Msg) !void {
        main.update(&screen.model, msg);
        try screen.build();
    }

    fn press(screen: *Screen, kind: canvas.WidgetKind, name: []const u8) !void {
        const widget = find(screen.tree.root, kind, name) orelse {
            std.debug.print("the view has no {t} named \"{s}\"\n", .{ kind, name });
            return error.WidgetNotFound;
        };
        try screen.send(screen.tree.msgForPointer(widget.id, .up) orelse return error.WidgetSendsNothing);
    }

    fn type_(screen: *Screen, kind: canvas.WidgetKind, name: []const u8, text: []const u8) !void {
        const field = find(screen.tree.root, kind, name) orelse return error.WidgetNotFound;
        try screen.send(screen.tree.msgForTextEdit(field.id, .{ .insert_text = text }) orelse return error.WidgetSendsNothing);
    }

    /// The titles that the list shows, from top to bottom.
    fn expectShown(screen: *const Screen, titles: []const []const u8) !void {
        var found: [main.max_items][]const u8 = undefined;
        var len: usize = 0;
        collect(screen.tree.root, &found, &len);
        try testing.expectEqual(titles.len, len);
        for (titles, found[0..len]) |expected, actual| try testing.expectEqualStrings(expected, actual);
    }

    fn expectStatus(screen: *const Screen, text: []const u8) !void {
        if (find(screen.tree.root, .status_bar, text) == null) return error.StatusDiffers;
    }
};

fn nameOf(widget: canvas.Widget) []const u8 {
    return if (widget.semantics.label.len > 0) widget.semantics.label else widget.text;
}

fn find(widget: canvas.Widget, kind: canvas.WidgetKind, name: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, nameOf(widget), name)) return widget;
    for (widget.children) |child| {
        if (find(child, kind, name)) |found| return found;
    }
    return null;
}

fn collect(widget: canvas.Widget, out: [][]const u8, len: *usize) void {
    if (widget.kind == .checkbox) {
        out[len.*] = nameOf(widget);
        len.* += 1;
    }
    for (widget.children) |child| collect(child, out, len);
}

test "the seeded items are listed" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectShown(&.{ "Passport", "Rain jacket", "Phone charger", "Sun hat", "Phrase book" });
    try screen.expectStatus("3 of 5 left to pack");
}

test "a filter and a search show what they let through" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.press(.toggle_button, "open");
    try screen.expectShown(&.{ "Rain jacket", "Phone charger", "Phrase book" });
    try screen.type_(.search_field, "Search", "PH");
    try screen.expectShown(&.{ "Phone charger", "Phrase book" });
    try screen.press(.toggle_button, "done");
    try screen.expectShown(&.{});
}

test "checking an item moves it to where it belongs" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.press(.toggle_button, "open");
    try screen.press(.checkbox, "Rain jacket");
    try screen.expectShown(&.{ "Phone charger", "Phrase book" });
    try screen.expectStatus("2 of 5 left to pack");
}

test "an added item is at the end" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.type_(.text_field, "New item", "  Towel ");
    try screen.press(.button, "Add");
    try screen.expectShown(&.{ "Passport", "Rain jacket", "Phone charger", "Sun hat", "Phrase book", "Towel" });
}

test "deleting counts one item less" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.press(.button, "Delete Phone charger");
    try screen.expectStatus("2 of 4 left to pack");
}
