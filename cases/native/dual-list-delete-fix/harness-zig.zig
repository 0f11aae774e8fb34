//! What the prompt of dual-list-delete-fix promises, on the app's own Model, Msg and update. harness-ts.zig is the same spec,
//! test for test.

const std = @import("std");
const main = @import("main.zig");

const testing = std.testing;

const App = struct {
    model: main.Model,
    arena: std.heap.ArenaAllocator,

    fn deinit(app: *App) void {
        app.arena.deinit();
    }
};

fn start() !App {
    return .{ .model = main.initialModel(), .arena = .init(testing.allocator) };
}

/// The list as the model tells it, with an allocator or without: of items, or of rows that are made of them.
fn visible(app: *App) @typeInfo(@TypeOf(main.Model.visibleItems)).@"fn".return_type.? {
    return if (comptime @typeInfo(@TypeOf(main.Model.visibleItems)).@"fn".params.len == 2)
        app.model.visibleItems(app.arena.allocator())
    else
        app.model.visibleItems();
}

fn titleOf(item: anytype) []const u8 {
    return if (comptime @hasField(@TypeOf(item.*), "title")) item.title else item.title();
}

/// The list shows these items, in this order.
fn expectShown(app: *App, titles: []const []const u8) !void {
    const shown = visible(app);
    errdefer for (shown) |*item| std.debug.print("shown: \"{s}\"\n", .{titleOf(item)});
    try testing.expectEqual(titles.len, shown.len);
    for (titles, shown) |title, *item| try testing.expectEqualStrings(title, titleOf(item));
}

fn expectCounts(app: *App, open: usize, all: usize) !void {
    try testing.expectEqual(open, app.model.openCount());
    try testing.expectEqual(all, app.model.itemCount());
}

fn show(app: *App, filter: []const u8) !void {
    main.update(&app.model, .{ .set_filter = std.meta.stringToEnum(main.Filter, filter).? });
}

fn toggle(app: *App, id: u32) !void {
    main.update(&app.model, .{ .toggle_item = id });
}

fn delete(app: *App, id: u32) !void {
    main.update(&app.model, .{ .delete_item = id });
}

fn clearDone(app: *App) !void {
    main.update(&app.model, .clear_done);
}

fn search(app: *App, text: []const u8) !void {
    main.update(&app.model, .{ .query_edit = .{ .insert_text = text } });
}

fn add(app: *App, title: []const u8) !void {
    main.update(&app.model, .{ .draft_edit = .{ .insert_text = title } });
    main.update(&app.model, .add_item);
}

/// The id of the item that the list shows at a place.
fn idAt(app: *App, index: usize) u32 {
    return visible(app)[index].id;
}

test "it starts with the five items, all of them shown" {
    var app = try start();
    defer app.deinit();
    try expectShown(&app, &.{ "Passport", "Rain jacket", "Phone charger", "Sun hat", "Phrase book" });
    try expectCounts(&app, 3, 5);
}

test "deleting takes an item off the list at once" {
    var app = try start();
    defer app.deinit();
    try delete(&app, 3);
    try expectShown(&app, &.{ "Passport", "Rain jacket", "Sun hat", "Phrase book" });
    try expectCounts(&app, 2, 4);
    try delete(&app, 1);
    try expectShown(&app, &.{ "Rain jacket", "Sun hat", "Phrase book" });
    try expectCounts(&app, 2, 3);
}

test "deleting leaves the filter as it is" {
    var app = try start();
    defer app.deinit();
    try show(&app, "open");
    try delete(&app, 3);
    try expectShown(&app, &.{ "Rain jacket", "Phrase book" });
    try show(&app, "done");
    try delete(&app, 4);
    try expectShown(&app, &.{"Passport"});
    try show(&app, "all");
    try expectShown(&app, &.{ "Passport", "Rain jacket", "Phrase book" });
}

test "deleting leaves the search as it is" {
    var app = try start();
    defer app.deinit();
    try search(&app, "ph");
    try expectShown(&app, &.{ "Phone charger", "Phrase book" });
    try delete(&app, 5);
    try expectShown(&app, &.{"Phone charger"});
    try delete(&app, 3);
    try expectShown(&app, &.{});
    try expectCounts(&app, 1, 3);
}

test "what is not shown is deleted as well, and the list stays" {
    var app = try start();
    defer app.deinit();
    try show(&app, "open");
    try delete(&app, 1);
    try expectShown(&app, &.{ "Rain jacket", "Phone charger", "Phrase book" });
    try show(&app, "done");
    try expectShown(&app, &.{"Sun hat"});
}

test "deleting what is gone changes nothing" {
    var app = try start();
    defer app.deinit();
    try delete(&app, 2);
    try delete(&app, 2);
    try delete(&app, 77);
    try expectShown(&app, &.{ "Passport", "Phone charger", "Sun hat", "Phrase book" });
    try expectCounts(&app, 2, 4);
}

test "clearing what is packed takes it off the list at once" {
    var app = try start();
    defer app.deinit();
    try clearDone(&app);
    try expectShown(&app, &.{ "Rain jacket", "Phone charger", "Phrase book" });
    try expectCounts(&app, 3, 3);
}

test "clearing what is packed leaves the filter and the search as they are" {
    var app = try start();
    defer app.deinit();
    try show(&app, "done");
    try search(&app, "hat");
    try expectShown(&app, &.{"Sun hat"});
    try clearDone(&app);
    try expectShown(&app, &.{});
    try show(&app, "all");
    try expectShown(&app, &.{});
    try toggle(&app, 2);
    try expectCounts(&app, 2, 3);
}

test "the last item goes too" {
    var app = try start();
    defer app.deinit();
    for (1..6) |id| try delete(&app, @intCast(id));
    try expectShown(&app, &.{});
    try expectCounts(&app, 0, 0);
}

test "a checked item moves to the list where it belongs" {
    var app = try start();
    defer app.deinit();
    try show(&app, "open");
    try toggle(&app, 2);
    try expectShown(&app, &.{ "Phone charger", "Phrase book" });
    try show(&app, "done");
    try expectShown(&app, &.{ "Passport", "Rain jacket", "Sun hat" });
    try toggle(&app, 1);
    try expectShown(&app, &.{ "Rain jacket", "Sun hat" });
    try expectCounts(&app, 3, 5);
}

test "an added item is shown where filter and search let it through" {
    var app = try start();
    defer app.deinit();
    try show(&app, "done");
    try add(&app, "  Towel ");
    try expectShown(&app, &.{ "Passport", "Sun hat" });
    try show(&app, "open");
    try expectShown(&app, &.{ "Rain jacket", "Phone charger", "Phrase book", "Towel" });
    try search(&app, "TOW");
    try expectShown(&app, &.{"Towel"});
    try add(&app, "   ");
    try expectCounts(&app, 4, 6);
}

test "an item that is added after a deletion is a new one" {
    var app = try start();
    defer app.deinit();
    try delete(&app, 5);
    try add(&app, "Towel");
    try expectShown(&app, &.{ "Passport", "Rain jacket", "Phone charger", "Sun hat", "Towel" });
    const towel = idAt(&app, 4);
    try testing.expect(towel != 5);
    try toggle(&app, towel);
    try delete(&app, 5);
    try expectCounts(&app, 2, 5);
    try clearDone(&app);
    try expectShown(&app, &.{ "Rain jacket", "Phone charger" });
    try delete(&app, towel);
    try expectCounts(&app, 2, 2);
}
