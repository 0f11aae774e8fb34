//! What the prompt of ts-expenses-filter promises, on the emitted core: the filter, and what worked before it.

const std = @import("std");
const core = @import("core.zig");
const drive = @import("drive.zig");

const expectEqual = std.testing.expectEqual;
const expectNumber = drive.expectNumber;
const expectText = drive.expectText;

const App = drive.App(core);

fn start() !App {
    return App.init(std.testing.allocator);
}

fn expectVisible(app: App, ids: []const i64) !void {
    const visible = core.visibleExpenses(app.model);
    try expectNumber(ids.len, visible.len);
    for (ids, visible) |id, expense| try expectNumber(id, expense.id);
}

fn add(app: *App, comptime title: []const u8, cents: i64, comptime category: []const u8) !void {
    try app.send("edit_title", .{ .text = title });
    try app.send("set_amount", .{ .cents = cents });
    try app.send("choose_category", .{ .category = category });
    try app.send("add", .{});
}

// ---- what was there ----
test "the ledger starts as it did" {
    var app = try start();
    defer app.deinit();
    try expectNumber(4, core.expenseCount(app.model));
    try expectNumber(18460, core.total(app.model));
    try expectText("Train to Leipzig", app.model.expenses[1].title);
    try expectNumber(5, app.model.nextId);
    try expectEqual(false, core.canAdd(app.model));
}

test "adding works as it did" {
    var app = try start();
    defer app.deinit();
    try add(&app, "  Stapler ", 799, "office");
    try expectNumber(5, app.model.expenses.len);
    const added = app.model.expenses[4];
    try expectNumber(5, added.id);
    try expectText("Stapler", added.title);
    try expectNumber(799, added.cents);
    try drive.expectMember("office", added.category);
    try expectText("", app.model.title);
    try expectNumber(0, app.model.cents);
    try drive.expectMember("office", app.model.category);
    try app.send("set_amount", .{ .cents = -5 });
    try expectNumber(0, app.model.cents);
    try app.send("add", .{});
    try expectNumber(5, app.model.expenses.len);
}

test "removing works as it did" {
    var app = try start();
    defer app.deinit();
    try app.send("remove", .{ .id = 2 });
    try app.send("remove", .{ .id = 99 });
    try expectNumber(3, core.expenseCount(app.model));
    try expectNumber(9560, core.total(app.model));
}

// ---- the filter ----
test "without a filter all is visible" {
    var app = try start();
    defer app.deinit();
    try expectEqual(null, app.model.filter);
    try expectEqual(false, core.isFiltered(app.model));
    try expectVisible(app, &.{ 1, 2, 3, 4 });
    try expectNumber(18460, core.visibleTotal(app.model));
    try expectEqual(false, core.nothingMatches(app.model));
}

test "a filter shows its category alone, in the ledger's order" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle_filter", .{ .category = "food" });
    try drive.expectMember("food", app.model.filter.?);
    try expectEqual(true, core.isFiltered(app.model));
    try expectVisible(app, &.{ 1, 4 });
    try expectNumber(8310, core.visibleTotal(app.model));
}

test "another category takes the place of the first" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle_filter", .{ .category = "food" });
    try app.send("toggle_filter", .{ .category = "travel" });
    try expectVisible(app, &.{2});
    try expectNumber(8900, core.visibleTotal(app.model));
}

test "the same category again takes the filter off, and so does clear_filter" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle_filter", .{ .category = "food" });
    try app.send("toggle_filter", .{ .category = "food" });
    try expectEqual(null, app.model.filter);
    try app.send("toggle_filter", .{ .category = "office" });
    try app.send("clear_filter", .{});
    try expectEqual(null, app.model.filter);
    try app.send("clear_filter", .{});
    try expectVisible(app, &.{ 1, 2, 3, 4 });
}

test "total and count are the whole ledger's under a filter" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle_filter", .{ .category = "office" });
    try expectNumber(18460, core.total(app.model));
    try expectNumber(4, core.expenseCount(app.model));
}

test "adding under a filter leaves it, and adds to the ledger" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle_filter", .{ .category = "food" });
    try add(&app, "Taxi", 2300, "travel");
    try expectVisible(app, &.{ 1, 4 });
    try drive.expectMember("food", app.model.filter.?);
    try add(&app, "Cake", 500, "food");
    try expectVisible(app, &.{ 1, 4, 6 });
    try expectNumber(6, core.expenseCount(app.model));
}

test "removing the last that is visible leaves the filter, and says that nothing matches" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle_filter", .{ .category = "travel" });
    try app.send("remove", .{ .id = 2 });
    try expectVisible(app, &.{});
    try expectNumber(0, core.visibleTotal(app.model));
    try drive.expectMember("travel", app.model.filter.?);
    try expectEqual(true, core.nothingMatches(app.model));
}

test "an empty ledger matches nothing in another sense" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle_filter", .{ .category = "food" });
    inline for (.{ 1, 2, 3, 4 }) |id| try app.send("remove", .{ .id = id });
    try expectEqual(false, core.nothingMatches(app.model));
    try app.send("clear_filter", .{});
    try expectEqual(false, core.nothingMatches(app.model));
}

test "the category that is being entered and the filter do not touch each other" {
    var app = try start();
    defer app.deinit();
    try app.send("choose_category", .{ .category = "office" });
    try expectEqual(null, app.model.filter);
    try app.send("toggle_filter", .{ .category = "travel" });
    try drive.expectMember("office", app.model.category);
    try app.send("choose_category", .{ .category = "food" });
    try drive.expectMember("travel", app.model.filter.?);
}
