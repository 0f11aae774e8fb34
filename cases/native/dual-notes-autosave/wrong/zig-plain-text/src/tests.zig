//! Notes, written, chosen and saved through the built view. No file is touched:
//! the effects channel writes down what it is asked for.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;

/// A model and its view. The view is built anew after each message.
const Screen = struct {
    arena_state: std.heap.ArenaAllocator,
    model: main.Model,
    fx: main.Effects,
    tree: main.AppUi.Tree,

    fn init(screen: *Screen) !void {
        screen.arena_state = .init(testing.allocator);
        errdefer screen.arena_state.deinit();
        screen.fx = .init(testing.allocator);
        errdefer screen.fx.deinit();
        screen.fx.executor = .fake;
        screen.model = main.initialModel();
        try screen.build();
    }

    fn deinit(screen: *Screen) void {
        screen.fx.deinit();
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
        main.update(&screen.model, msg, &screen.fx);
        try screen.build();
    }

    /// Takes in what the effects channel has to say.
    fn drain(screen: *Screen) !void {
        while (screen.fx.takeMsg()) |msg| main.update(&screen.model, msg, &screen.fx);
        try screen.build();
    }

    fn pauseEnds(screen: *Screen) !void {
        try screen.fx.fireTimer(screen.fx.pendingTimerAt(0).?.key);
        try screen.drain();
    }

    fn saveEnds(screen: *Screen, outcome: native_sdk.EffectFileOutcome) !void {
        try screen.fx.feedFileResult(screen.fx.pendingFileAt(0).?.key, outcome, "");
        try screen.drain();
    }

    /// One save is under way, of these bytes.
    fn expectSaving(screen: *Screen, bytes: []const u8) !void {
        try testing.expectEqual(1, screen.fx.pendingFileCount());
        const request = screen.fx.pendingFileAt(0).?;
        try testing.expectEqualStrings(main.file_path, request.path);
        try testing.expectEqualStrings(bytes, request.bytes);
    }

    fn expectStatus(screen: *const Screen, text: []const u8, can_save: bool) !void {
        _ = try screen.find(.text, text);
        try testing.expectEqual(!can_save, (try screen.find(.button, "Save now")).state.disabled);
    }

    fn press(screen: *Screen, kind: canvas.WidgetKind, name: []const u8) !void {
        const widget = try screen.find(kind, name);
        try screen.send(screen.tree.msgForPointer(widget.id, .up) orelse return error.WidgetSendsNothing);
    }

    fn write(screen: *Screen, kind: canvas.WidgetKind, name: []const u8, text: []const u8) !void {
        const field = try screen.find(kind, name);
        try screen.send(screen.tree.msgForTextEdit(field.id, .{ .insert_text = text }) orelse return error.WidgetSendsNothing);
    }

    fn find(screen: *const Screen, kind: canvas.WidgetKind, name: []const u8) !canvas.Widget {
        return search(screen.tree.root, kind, name) orelse {
            std.debug.print("the view has no {t} named \"{s}\"\n", .{ kind, name });
            return error.WidgetNotFound;
        };
    }

    fn expectText(screen: *const Screen, kind: canvas.WidgetKind, name: []const u8, text: []const u8) !void {
        try testing.expectEqualStrings(text, (try screen.find(kind, name)).text);
    }
};

fn search(widget: canvas.Widget, kind: canvas.WidgetKind, name: []const u8) ?canvas.Widget {
    const own = if (widget.semantics.label.len > 0) widget.semantics.label else widget.text;
    if (widget.kind == kind and std.mem.eql(u8, own, name)) return widget;
    for (widget.children) |child| {
        if (search(child, kind, name)) |found| return found;
    }
    return null;
}

test "the first note is open" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectText(.text_field, "Title", "Groceries");
    try screen.expectText(.textarea, "Text", "Milk\nBread");
    _ = try screen.find(.status_bar, "3 notes");
}

test "what is written stays with its note" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.write(.textarea, "Text", ", eggs");
    try screen.press(.list_item, "Ideas");
    try screen.expectText(.textarea, "Text", "Paint the shed");
    try screen.write(.text_field, "Title", " for May");
    try screen.press(.list_item, "Groceries");
    try screen.expectText(.textarea, "Text", "Milk\nBread, eggs");
    _ = try screen.find(.list_item, "Ideas for May");
}

test "a new note is empty and open" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.press(.button, "New note");
    try screen.expectText(.text_field, "Title", "");
    _ = try screen.find(.list_item, "Untitled");
    _ = try screen.find(.status_bar, "4 notes");
}

test "deleting the open note opens the first that is left" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.press(.button, "Delete this note");
    try screen.expectText(.text_field, "Title", "Ideas");
    try screen.press(.button, "Delete this note");
    try screen.press(.button, "Delete this note");
    _ = try screen.find(.text, "No note is open");
}

test "nothing is saved before something changes" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectStatus("No changes", false);
    const field = try screen.find(.text_field, "Title");
    try screen.send(screen.tree.msgForTextEdit(field.id, .{ .move_caret = .{ .direction = .start } }).?);
    try screen.press(.list_item, "Ideas");
    try screen.expectStatus("No changes", false);
    try screen.send(.save_now);
    try testing.expectEqual(0, screen.fx.pendingTimerCount());
    try testing.expectEqual(0, screen.fx.pendingFileCount());
}
