//! The settings as a user meets them: switches are pressed in the built view.

const std = @import("std");
const main = @import("main.zig");
const screens = @import("screen.zig");

const testing = std.testing;
const Screen = screens.Screen;
const Running = screens.Running;

const names = [_][]const u8{
    "Email digest",     "Push alerts",      "Sound effects",
    "Share usage data", "Personalized ads", "Remember search history",
    "Autosave",         "Word wrap",        "Line numbers",
};
const on_at_first = [_]bool{ true, false, true, false, false, true, true, true, false };

/// Switches stand as in `expected`, in the order in which they are read.
fn expectSwitches(screen: *const Screen, expected: [names.len]bool) !void {
    try screen.expectNames(.switch_control, &names);
    for (names, expected) |name, on| {
        errdefer std.debug.print("wrong: \"{s}\"\n", .{name});
        try testing.expectEqual(on, (try screen.find(.switch_control, name)).state.selected);
    }
}

fn expectSectionCount(screen: *const Screen, section: []const u8, text: []const u8) !void {
    _ = try screens.findIn(try screen.find(.column, section), .text, text);
}

test "the settings open at their defaults, in three named sections" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try expectSwitches(&screen, on_at_first);
    try expectSectionCount(&screen, "Notifications", "2 of 3 on");
    try expectSectionCount(&screen, "Privacy", "1 of 3 on");
    try expectSectionCount(&screen, "Editor", "2 of 3 on");
    try screen.expectSeen(.status_bar, "5 of 9 settings on");
}

test "a switch changes its own setting and the counts, nothing else" {
    for (names, 0..) |name, index| {
        var screen: Screen = undefined;
        try screen.init();
        defer screen.deinit();

        try screen.click(.switch_control, name);
        var expected = on_at_first;
        expected[index] = !expected[index];
        try expectSwitches(&screen, expected);
        try screen.expectSeen(.status_bar, if (expected[index]) "6 of 9 settings on" else "4 of 9 settings on");

        try screen.click(.switch_control, name);
        try expectSwitches(&screen, on_at_first);
    }
}

test "turning a section off leaves the other sections alone" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.button, "Turn off everything in Notifications");
    try expectSwitches(&screen, .{ false, false, false } ++ on_at_first[3..9].*);
    try expectSectionCount(&screen, "Notifications", "0 of 3 on");
    try expectSectionCount(&screen, "Editor", "2 of 3 on");
    try screen.expectSeen(.status_bar, "3 of 9 settings on");

    // There is nothing left to turn off, and the button knows.
    const button = try screen.find(.button, "Turn off everything in Notifications");
    try testing.expect(button.state.disabled);
    try testing.expectEqual(null, screen.tree.msgForPointer(button.id, .up));
}

test "defaults can be restored once something differs from them" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try testing.expect((try screen.find(.button, "Restore defaults")).state.disabled);
    try screen.click(.switch_control, "Line numbers");
    try screen.click(.button, "Turn off everything in Privacy");
    try testing.expect(!(try screen.find(.button, "Restore defaults")).state.disabled);

    try screen.click(.button, "Restore defaults");
    try expectSwitches(&screen, on_at_first);
    try testing.expect((try screen.find(.button, "Restore defaults")).state.disabled);
}

test "going back by hand counts as the defaults too" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    for (0..2) |_| try screen.click(.switch_control, "Word wrap");
    try testing.expect((try screen.find(.button, "Restore defaults")).state.disabled);
}

test "the view is sound at every size of the window" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectSound();
}

test "the running app announces sections and switches" {
    const running = try Running.start();
    defer running.stop();
    try running.expectAnnounced(&.{
        &.{ "role=group", "name=\"Notifications\"" },
        &.{ "role=group", "name=\"Privacy\"" },
        &.{ "role=group", "name=\"Editor\"" },
        &.{ "role=switch", "name=\"Email digest\"", " value=1" },
        &.{ "role=switch", "name=\"Push alerts\"", " value=0" },
        &.{ "role=button", "name=\"Restore defaults\"", "enabled=false" },
        &.{"name=\"5 of 9 settings on\""},
    });
}

test "in the running app, switches follow what is turned off and restored" {
    const running = try Running.start();
    defer running.stop();

    try running.click(.switch_control, "Line numbers");
    try running.click(.button, "Turn off everything in Privacy");
    try running.expectAnnounced(&.{
        &.{ "role=switch", "name=\"Line numbers\"", " value=1" },
        &.{ "role=switch", "name=\"Remember search history\"", " value=0" },
    });
    try running.click(.button, "Restore defaults");
    try running.expectAnnounced(&.{
        &.{ "role=switch", "name=\"Line numbers\"", " value=0" },
        &.{ "role=switch", "name=\"Remember search history\"", " value=1" },
    });
    // They are switches as before.
    try running.click(.switch_control, "Line numbers");
    try running.expectAnnounced(&.{&.{ "role=switch", "name=\"Line numbers\"", " value=1" }});
}
