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
const LampMarkup = canvas.MarkupView(Model, Msg);

/// A model with the view that was last built from it.
const Lamp = struct {
    arena_state: std.heap.ArenaAllocator,
    model: Model,
    tree: main.AppUi.Tree,

    /// In place: the tree points into the arena.
    fn init(lamp: *Lamp) !void {
        lamp.arena_state = .init(testing.allocator);
        errdefer lamp.arena_state.deinit();
        lamp.model = main.initialModel();
        try lamp.rebuild();
    }

    fn deinit(lamp: *Lamp) void {
        lamp.arena_state.deinit();
    }

    fn rebuild(lamp: *Lamp) !void {
        const arena = lamp.arena_state.allocator();
        var view = try LampMarkup.init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &lamp.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        lamp.tree = try ui.finalize(node);
    }

    fn press(lamp: *Lamp, text: []const u8) !void {
        const button = try lamp.find(.button, text);
        const msg = lamp.tree.msgForPointer(button.id, .up) orelse return error.ButtonSendsNothing;
        main.update(&lamp.model, msg);
        try lamp.rebuild();
    }

    fn find(lamp: *const Lamp, kind: canvas.WidgetKind, text: []const u8) !canvas.Widget {
        return search(lamp.tree.root, kind, text) orelse {
            std.debug.print("the view has no {t} with \"{s}\"\n", .{ kind, text });
            return error.WidgetNotFound;
        };
    }
};

fn search(widget: canvas.Widget, kind: canvas.WidgetKind, text: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, widget.text, text)) return widget;
    for (widget.children) |child| {
        if (search(child, kind, text)) |found| return found;
    }
    return null;
}

test "the lamp is at three of five, and goes both ways" {
    var lamp: Lamp = undefined;
    try lamp.init();
    defer lamp.deinit();

    _ = try lamp.find(.status_bar, "Brightness 3 of 5");
    try lamp.press("Brighter");
    _ = try lamp.find(.status_bar, "Brightness 4 of 5");
    for (0..2) |_| try lamp.press("Dimmer");
    _ = try lamp.find(.status_bar, "Brightness 2 of 5");
}

test "at either end a button is unavailable, and update goes no further" {
    var lamp: Lamp = undefined;
    try lamp.init();
    defer lamp.deinit();

    for (0..2) |_| try lamp.press("Brighter");
    const brighter = try lamp.find(.button, "Brighter");
    try testing.expect(brighter.state.disabled);
    try testing.expectEqual(@as(?Msg, null), lamp.tree.msgForPointer(brighter.id, .up));
    main.update(&lamp.model, .brighten);
    try testing.expectEqual(@as(u8, 5), lamp.model.level);

    for (0..5) |_| try lamp.press("Dimmer");
    _ = try lamp.find(.status_bar, "Brightness 0 of 5");
    try testing.expect((try lamp.find(.button, "Dimmer")).state.disabled);
    main.update(&lamp.model, .dim);
    try testing.expectEqual(@as(u8, 0), lamp.model.level);
}

test "nothing overflows and every control is named, at every window size" {
    var lamp: Lamp = undefined;
    try lamp.init();
    defer lamp.deinit();

    try canvas.expectLayoutAuditSweepClean(testing.allocator, lamp.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, lamp.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
}

test "the manifest names one picture for all icons, and it is a square one" {
    const io = testing.io;
    const cwd = std.Io.Dir.cwd();
    const manifest = try cwd.readFileAlloc(io, "app.zon", testing.allocator, .limited(64 * 1024));
    defer testing.allocator.free(manifest);
    try testing.expect(std.mem.indexOf(u8, manifest, ".icons = .{\"assets/brand/mark.png\"}") != null);

    const picture = try cwd.readFileAlloc(io, "assets/brand/mark.png", testing.allocator, .limited(1024 * 1024));
    defer testing.allocator.free(picture);
    // A PNG's size stands in its first chunk.
    const width = std.mem.readInt(u32, picture[16..20], .big);
    const height = std.mem.readInt(u32, picture[20..24], .big);
    try testing.expectEqual(width, height);
    try testing.expect(width >= 1024);
}
