//! The ledger, used and exported through the built view. No file is touched: the
//! effects channel writes down what it is asked for.

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

    fn exportEnds(screen: *Screen, outcome: native_sdk.EffectFileOutcome) !void {
        try screen.fx.feedFileResult(screen.fx.pendingFileAt(0).?.key, outcome, "");
        while (screen.fx.takeMsg()) |msg| main.update(&screen.model, msg, &screen.fx);
        try screen.build();
    }

    /// One export is under way, of these bytes.
    fn expectExporting(screen: *Screen, bytes: []const u8) !void {
        try testing.expectEqual(1, screen.fx.pendingFileCount());
        const request = screen.fx.pendingFileAt(0).?;
        try testing.expectEqualStrings(main.export_path, request.path);
        try testing.expectEqualStrings(bytes, request.bytes);
    }

    fn expectExport(screen: *const Screen, text: []const u8, can_export: bool) !void {
        _ = try screen.find(.text, text);
        try testing.expectEqual(!can_export, (try screen.find(.button, "Export CSV")).state.disabled);
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

    fn add(screen: *Screen, payee: []const u8, amount: []const u8) !void {
        try screen.write(.text_field, "Payee", payee);
        try screen.write(.text_field, "Amount", amount);
        try screen.press(.button, "Add");
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

test "the entries and what they come to" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    _ = try screen.find(.data_cell, "Green Grocer, Market St");
    _ = try screen.find(.data_cell, "2026-03-02");
    _ = try screen.find(.data_cell, "-18.05");
    _ = try screen.find(.status_bar, "5 entries · Balance 1918.55");
}

test "an entry is added with its day and its category" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.press(.button, "Day before");
    try screen.press(.toggle_button, "home");
    try screen.add(" Paint ", "-7.5");
    const entry = screen.model.all()[5];
    try testing.expectEqualStrings("Paint", entry.payee());
    try testing.expectEqual(30, entry.day);
    try testing.expectEqual(.home, entry.category);
    try testing.expectEqual(-750, entry.cents);
    _ = try screen.find(.status_bar, "6 entries · Balance 1911.05");
}

test "only amounts are amounts" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.write(.text_field, "Payee", "Paint");
    for ([_][]const u8{ "", "-", ".5", "5.", "1.234", "1,50", "--1", "x" }) |text| {
        screen.model.amount_buffer.set(text);
        try testing.expect(!screen.model.canAdd());
    }
    for ([_][]const u8{ "0", "-0.05", "1.2", " 12 " }) |text| {
        screen.model.amount_buffer.set(text);
        try testing.expect(screen.model.canAdd());
    }
}

test "an entry is deleted, and the order turned round" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.press(.data_cell, "Delete Plumber");
    _ = try screen.find(.status_bar, "4 entries · Balance 2008.55");
    try screen.press(.switch_control, "Newest first");
    const rows = screen.model.rows(screen.arena_state.allocator());
    try testing.expectEqualStrings("Train, 2nd class, \"Flex\"", rows[0].payee);
    try testing.expectEqualStrings("Green Grocer, Market St", rows[3].payee);
}
