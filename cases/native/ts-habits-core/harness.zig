//! What the prompt of ts-habits-core promises, on the emitted core.

const std = @import("std");
const core = @import("core.zig");
const drive = @import("drive.zig");

const expect = std.testing.expect;
const expectNumber = drive.expectNumber;
const expectText = drive.expectText;

const App = drive.App(core);

fn start() !App {
    return App.init(std.testing.allocator);
}

fn expectHabit(app: App, index: usize, id: i64, name: []const u8, done: bool, streak: i64) !void {
    const habit = app.model.habits[index];
    try expectNumber(id, habit.id);
    try expectText(name, habit.name);
    try std.testing.expectEqual(done, habit.done);
    try expectNumber(streak, habit.streak);
}

/// The ids that `visibleHabits` returns.
fn expectVisible(app: App, ids: []const i64) !void {
    const visible = core.visibleHabits(app.model);
    try expectNumber(ids.len, visible.len);
    for (ids, visible) |id, habit| try expectNumber(id, habit.id);
}

test "it starts with three habits" {
    var app = try start();
    defer app.deinit();
    try expectNumber(3, app.model.habits.len);
    try expectHabit(app, 0, 1, "Morning walk", false, 4);
    try expectHabit(app, 1, 2, "Read ten pages", false, 0);
    try expectHabit(app, 2, 3, "Water the plants", true, 11);
    try expectText("", app.model.draft);
    try drive.expectMember("all", app.model.filter);
    try expectNumber(4, app.model.nextId);
}

test "toggle marks a habit as done, and its streak grows" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle", .{ .id = 1 });
    try expectHabit(app, 0, 1, "Morning walk", true, 5);
    try expectHabit(app, 1, 2, "Read ten pages", false, 0);
    try expectHabit(app, 2, 3, "Water the plants", true, 11);
}

test "toggled again the day is taken off" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle", .{ .id = 3 });
    try expectHabit(app, 2, 3, "Water the plants", false, 10);
    try app.send("toggle", .{ .id = 2 });
    try app.send("toggle", .{ .id = 2 });
    try expectHabit(app, 1, 2, "Read ten pages", false, 0);
}

test "an unknown id toggles and removes nothing" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle", .{ .id = 77 });
    try app.send("remove", .{ .id = 77 });
    try expectNumber(3, app.model.habits.len);
    try expectHabit(app, 0, 1, "Morning walk", false, 4);
    try expectNumber(1, core.doneCount(app.model));
}

test "a new day keeps the streaks of what was done, and ends the others" {
    var app = try start();
    defer app.deinit();
    try app.send("new_day", .{});
    try expectHabit(app, 0, 1, "Morning walk", false, 0);
    try expectHabit(app, 2, 3, "Water the plants", false, 11);
    try app.send("toggle", .{ .id = 3 });
    try expectHabit(app, 2, 3, "Water the plants", true, 12);
    try app.send("new_day", .{});
    try app.send("new_day", .{});
    try expectHabit(app, 2, 3, "Water the plants", false, 0);
}

test "the draft is kept as it is typed" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = "  Stretch " });
    try expectText("  Stretch ", app.model.draft);
    try expectNumber(3, app.model.habits.len);
}

test "add makes a habit of the trimmed draft, and empties it" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = " \t Stretch and breathe \r\n" });
    try app.send("add", .{});
    try expectNumber(4, app.model.habits.len);
    try expectHabit(app, 3, 4, "Stretch and breathe", false, 0);
    try expectText("", app.model.draft);
    try app.send("add", .{});
    try expectNumber(4, app.model.habits.len);
}

test "a blank draft adds nothing and stays" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = " \t\n " });
    try app.send("add", .{});
    try expectNumber(3, app.model.habits.len);
    try expectText(" \t\n ", app.model.draft);
    try expectNumber(4, app.model.nextId);
}

test "remove leaves the others in their order, and no id comes twice" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = "One" });
    try app.send("add", .{});
    try app.send("remove", .{ .id = 2 });
    try app.send("remove", .{ .id = 4 });
    try expectVisible(app, &.{ 1, 3 });
    try app.send("edit_draft", .{ .text = "Two" });
    try app.send("add", .{});
    try expectVisible(app, &.{ 1, 3, 5 });
}

test "the filter chooses what is visible, in the list's order" {
    var app = try start();
    defer app.deinit();
    try app.send("toggle", .{ .id = 1 });
    try app.send("set_filter", .{ .filter = "done" });
    try expectVisible(app, &.{ 1, 3 });
    try app.send("set_filter", .{ .filter = "open" });
    try expectVisible(app, &.{2});
    try app.send("toggle", .{ .id = 2 });
    try expectVisible(app, &.{});
    try app.send("set_filter", .{ .filter = "all" });
    try expectVisible(app, &.{ 1, 2, 3 });
}

test "counts are those of all habits, whatever the filter is" {
    var app = try start();
    defer app.deinit();
    try app.send("set_filter", .{ .filter = "open" });
    try expectNumber(1, core.doneCount(app.model));
    try expectNumber(2, core.openCount(app.model));
    try expectNumber(11, core.longestStreak(app.model));
    try app.send("remove", .{ .id = 3 });
    try expectNumber(0, core.doneCount(app.model));
    try expectNumber(4, core.longestStreak(app.model));
    try app.send("remove", .{ .id = 1 });
    try app.send("remove", .{ .id = 2 });
    try expectNumber(0, core.openCount(app.model));
    try expectNumber(0, core.longestStreak(app.model));
}
