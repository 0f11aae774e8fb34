//! What a user does to the habits, through the controls of the built view.

const std = @import("std");
const main = @import("main.zig");
const screens = @import("screen.zig");

const testing = std.testing;
const Screen = screens.Screen;
const Running = screens.Running;

const field = "Name of the new habit";

/// The list shows these habits, in this order.
fn expectHabits(screen: *const Screen, names: []const []const u8) !void {
    try screen.expectNames(.checkbox, names);
}

fn expectStreak(screen: *const Screen, habit: []const u8, streak: []const u8) !void {
    _ = try screens.findIn(try screen.find(.row, habit), .text, streak);
}

test "the seeded habits are listed with their streaks" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try expectHabits(&screen, &.{ "Drink water", "Read 20 pages", "Stretch", "Write in the journal" });
    try expectStreak(&screen, "Drink water", "3 days");
    try expectStreak(&screen, "Read 20 pages", "5 days");
    try expectStreak(&screen, "Stretch", "0 days");
    try expectStreak(&screen, "Write in the journal", "12 days");
    try screen.expectSeen(.status_bar, "2 of 4 done today");
}

test "doing a habit adds today to its streak, undoing takes it away" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.checkbox, "Stretch");
    try expectStreak(&screen, "Stretch", "1 day");
    try screen.expectSeen(.status_bar, "3 of 4 done today");
    try expectStreak(&screen, "Drink water", "3 days");

    try screen.click(.checkbox, "Stretch");
    try expectStreak(&screen, "Stretch", "0 days");
    try screen.expectSeen(.status_bar, "2 of 4 done today");
}

test "each filter shows its habits, and one filter at a time is chosen" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const due = [_][]const u8{ "Drink water", "Stretch" };
    const done = [_][]const u8{ "Read 20 pages", "Write in the journal" };
    for ([_][]const u8{ "Due", "Done" }, [_][]const []const u8{ &due, &done }) |chosen, habits| {
        try screen.click(.toggle_button, chosen);
        try expectHabits(&screen, habits);
        for ([_][]const u8{ "All", "Due", "Done" }) |name| {
            try testing.expectEqual(std.mem.eql(u8, name, chosen), (try screen.find(.toggle_button, name)).state.selected);
        }
        // The count is of all habits, whatever is shown.
        try screen.expectSeen(.status_bar, "2 of 4 done today");
    }
    try screen.click(.toggle_button, "All");
    try testing.expectEqual(4, screen.model.all().len);
}

test "a habit that is done leaves the list of those that are due" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.toggle_button, "Due");
    try screen.click(.checkbox, "Drink water");
    try expectHabits(&screen, &.{"Stretch"});
    try screen.click(.checkbox, "Stretch");
    try expectHabits(&screen, &.{});
    try screen.expectSeen(.text, "Nothing to show");
}

test "a new day keeps the streaks of what was done and ends the others" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.button, "New day");
    try expectStreak(&screen, "Drink water", "0 days");
    try expectStreak(&screen, "Read 20 pages", "5 days");
    try screen.expectSeen(.status_bar, "0 of 4 done today");

    try screen.click(.checkbox, "Read 20 pages");
    try expectStreak(&screen, "Read 20 pages", "6 days");
    try screen.click(.button, "New day");
    try expectStreak(&screen, "Read 20 pages", "6 days");
    try expectStreak(&screen, "Write in the journal", "0 days");
}

test "a typed habit is added by the button, and by Enter" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.typeInto(field, "  Call home ");
    try testing.expectEqualStrings("  Call home ", (try screen.find(.text_field, field)).text);
    try screen.click(.button, "Add");
    try testing.expectEqualStrings("", (try screen.find(.text_field, field)).text);

    try screen.typeInto(field, "Walk");
    try screen.pressEnter(field);
    try expectHabits(&screen, &.{ "Drink water", "Read 20 pages", "Stretch", "Write in the journal", "Call home", "Walk" });
    try expectStreak(&screen, "Walk", "0 days");
    try screen.expectSeen(.status_bar, "2 of 6 done today");
}

test "edits arrive one by one, and the field shows their sum" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.typeInto(field, "Wal");
    try screen.typeInto(field, "kk");
    const id = (try screen.find(.text_field, field)).id;
    try screen.send(screen.tree.msgForTextEdit(id, .delete_backward).?);
    try testing.expectEqualStrings("Walk", (try screen.find(.text_field, field)).text);
}

test "a blank name adds nothing, and a full list takes no more" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.typeInto(field, "   ");
    try testing.expect((try screen.find(.button, "Add")).state.disabled);
    try screen.pressEnter(field);
    try testing.expectEqual(4, screen.model.all().len);

    while (screen.model.all().len < main.max_habits) {
        main.update(&screen.model, .{ .draft_edit = .{ .insert_text = "Filler" } });
        main.update(&screen.model, .add_habit);
    }
    try screen.typeInto(field, "One more");
    try screen.pressEnter(field);
    try testing.expectEqual(main.max_habits, screen.model.all().len);
    // What was typed is not lost.
    try testing.expectEqualStrings("One more", (try screen.find(.text_field, field)).text);
}

test "removing takes one habit away, and no other changes" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const kept = (try screen.find(.row, "Stretch")).id;
    try screen.click(.button, "Remove Read 20 pages");
    try expectHabits(&screen, &.{ "Drink water", "Stretch", "Write in the journal" });
    try expectStreak(&screen, "Write in the journal", "12 days");
    try screen.expectSeen(.status_bar, "1 of 3 done today");
    try testing.expectEqual(kept, (try screen.find(.row, "Stretch")).id);
}

test "the view is sound at every size of the window" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectSound();
}

test "the running app announces field, filter and habits" {
    const running = try Running.start();
    defer running.stop();
    try running.expectAnnounced(&.{
        &.{ "role=textbox", "name=\"Name of the new habit\"" },
        &.{ "role=button", "name=\"Add\"", "enabled=false" },
        &.{ "name=\"All\"", "selected" },
        &.{ "role=checkbox", "name=\"Drink water\"", " value=0" },
        &.{ "role=checkbox", "name=\"Read 20 pages\"", " value=1" },
        &.{"name=\"2 of 4 done today\""},
    });
}

test "in the running app, a new day takes the checks away" {
    const running = try Running.start();
    defer running.stop();

    try running.click(.checkbox, "Stretch");
    try running.expectAnnounced(&.{&.{ "role=checkbox", "name=\"Stretch\"", " value=1" }});
    try running.click(.button, "New day");
    try running.expectAnnounced(&.{
        &.{ "role=checkbox", "name=\"Stretch\"", " value=0" },
        &.{ "role=checkbox", "name=\"Read 20 pages\"", " value=0" },
        &.{"name=\"0 of 4 done today\""},
    });
    // They can be checked as before.
    try running.click(.checkbox, "Stretch");
    try running.expectAnnounced(&.{ &.{ "role=checkbox", "name=\"Stretch\"", " value=1" }, &.{"name=\"1 of 4 done today\""} });
}
