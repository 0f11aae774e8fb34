//! What the prompt of dual-list-delete-fix promises, on the emitted core. harness-zig.zig is the same spec, test for test.

const std = @import("std");
const core = @import("core.zig");
const drive = @import("drive.zig");

const App = drive.App(core);

fn start() !App {
    return App.init(std.testing.allocator);
}

/// The list shows these items, in this order.
fn expectShown(app: *const App, titles: []const []const u8) !void {
    const shown = core.visibleItems(app.model);
    errdefer for (shown) |item| std.debug.print("shown: \"{s}\"\n", .{item.title});
    try drive.expectNumber(titles.len, shown.len);
    for (titles, shown) |title, item| try drive.expectText(title, item.title);
}

fn expectCounts(app: *const App, open: usize, all: usize) !void {
    try drive.expectNumber(open, core.openCount(app.model));
    try drive.expectNumber(all, core.itemCount(app.model));
}

fn show(app: *App, filter: []const u8) !void {
    try app.send("set_filter", .{ .filter = filter });
}

fn toggle(app: *App, id: u32) !void {
    try app.send("toggle_item", .{ .id = id });
}

fn delete(app: *App, id: u32) !void {
    try app.send("delete_item", .{ .id = id });
}

fn clearDone(app: *App) !void {
    try app.send("clear_done", .{});
}

fn search(app: *App, text: []const u8) !void {
    try app.send("query_edit", .{ .edit = .{ .insert_text = .{ .text = text } } });
}

fn add(app: *App, title: []const u8) !void {
    try app.send("draft_edit", .{ .edit = .{ .insert_text = .{ .text = title } } });
    try app.send("add_item", .{});
}

/// The id of the item that the list shows at a place.
fn idAt(app: *const App, index: usize) u32 {
    return @intFromFloat(drive.numberOf(core.visibleItems(app.model)[index].id));
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
    try std.testing.expect(towel != 5);
    try toggle(&app, towel);
    try delete(&app, 5);
    try expectCounts(&app, 2, 5);
    try clearDone(&app);
    try expectShown(&app, &.{ "Rain jacket", "Phone charger" });
    try delete(&app, towel);
    try expectCounts(&app, 2, 2);
}
