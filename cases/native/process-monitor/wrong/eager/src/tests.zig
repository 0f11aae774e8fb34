//! Runs of the command, played by the channel that starts nothing: what is asked
//! of it, and what the view says of its answers.

const std = @import("std");
const main = @import("main.zig");
const screens = @import("screen.zig");

const testing = std.testing;
const Screen = screens.Screen;
const Running = screens.Running;

fn expectIdle(screen: *const Screen) !void {
    try testing.expect(!(try screen.find(.button, "Start")).state.disabled);
    try testing.expect((try screen.find(.button, "Cancel")).state.disabled);
}

/// Starts a run, and returns the key under which it was asked for.
fn start(screen: *Screen) !u64 {
    try screen.click(.button, "Start");
    return screen.fx.pendingSpawnAt(0).?.key;
}

/// Lines come in small batches, as the channel can hold only so many at once.
fn feedTicks(screen: *Screen, key: u64, first: usize, last: usize) !void {
    for (first..last + 1) |number| {
        var buffer: [32]u8 = undefined;
        try screen.fx.feedLine(key, try std.fmt.bufPrint(&buffer, "tick {d}", .{number}));
        try screen.drain();
    }
}

fn expectLines(screen: *const Screen, lines: []const []const u8) !void {
    const list = try screen.find(.column, "Output");
    try testing.expectEqual(lines.len, list.children.len);
    for (list.children, lines) |row, line| try testing.expectEqualStrings(line, screens.announced(row));
}

test "nothing is started before the user asks" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try testing.expectEqual(0, screen.fx.pendingSpawnCount());
    try expectIdle(&screen);
    try screen.expectSeen(.text, "Status: idle");
    try screen.expectSeen(.text, "No output yet");
    try screen.expectSeen(.status_bar, "0 lines · 0 dropped");
}

test "start asks for the command once, as it is pinned" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    _ = try start(&screen);
    const request = screen.fx.pendingSpawnAt(0).?;
    try testing.expectEqual(main.command.len, request.argv.len);
    for (main.command, request.argv) |expected, actual| try testing.expectEqualStrings(expected, actual);
    try screen.expectSeen(.text, "Status: running");
    try testing.expect((try screen.find(.button, "Start")).state.disabled);
    try testing.expect(!(try screen.find(.button, "Cancel")).state.disabled);

    // Should it be asked for in some other way, there is still one run.
    try screen.send(.start);
    try testing.expectEqual(1, screen.fx.pendingSpawnCount());
}

test "lines show up as they come, and the last twelve stay" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const key = try start(&screen);
    try feedTicks(&screen, key, 1, 1);
    try expectLines(&screen, &.{"tick 1"});
    try screen.expectSeen(.status_bar, "1 line · 0 dropped");

    try feedTicks(&screen, key, 2, 15);
    try expectLines(&screen, &.{
        "tick 4",  "tick 5",  "tick 6",  "tick 7",  "tick 8",  "tick 9",
        "tick 10", "tick 11", "tick 12", "tick 13", "tick 14", "tick 15",
    });
    try screen.expectSeen(.status_bar, "15 lines · 0 dropped");
}

test "a run that ends by itself is finished, or failed with its code" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    var key = try start(&screen);
    try feedTicks(&screen, key, 1, 2);
    try screen.fx.feedExit(key, 0);
    try screen.drain();
    try screen.expectSeen(.text, "Status: finished");
    try expectIdle(&screen);
    // What it said can still be read.
    try expectLines(&screen, &.{ "tick 1", "tick 2" });

    key = try start(&screen);
    try screen.fx.feedExit(key, 3);
    try screen.drain();
    try screen.expectSeen(.text, "Status: failed with code 3");
}

test "cancel ends the run that is going on, and it says so" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const key = try start(&screen);
    try feedTicks(&screen, key, 1, 1);
    try screen.click(.button, "Cancel");
    // The channel no longer knows the run: nothing more can come of it.
    try testing.expectError(error.EffectNotFound, screen.fx.feedLine(key, "tick 2"));
    try screen.drain();
    try screen.expectSeen(.text, "Status: cancelled");
    try expectIdle(&screen);
    try expectLines(&screen, &.{"tick 1"});

    // With nothing to end, cancelling changes nothing.
    try screen.send(.cancel);
    try screen.expectSeen(.text, "Status: cancelled");
}

test "a new run begins with nothing of the old one" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const first = try start(&screen);
    try feedTicks(&screen, first, 1, 3);
    try screen.click(.button, "Cancel");
    try screen.drain();

    const second = try start(&screen);
    try testing.expect(first != second);
    try expectLinesCleared(&screen);
    try screen.expectSeen(.status_bar, "0 lines · 0 dropped");

    // What comes late of the old run is not taken for the new one's.
    try screen.send(.{ .line = .{ .key = first, .line = "late" } });
    try screen.send(.{ .exited = .{ .key = first, .reason = .cancelled } });
    try expectLinesCleared(&screen);
    try screen.expectSeen(.text, "Status: running");
}

fn expectLinesCleared(screen: *const Screen) !void {
    try screen.expectSeen(.text, "No output yet");
}

test "lines that never arrived are counted, each once" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const key = try start(&screen);
    try screen.send(.{ .line = .{ .key = key, .line = "tick 9", .dropped_before = 8 } });
    try screen.expectSeen(.status_bar, "1 line · 8 dropped");
    try screen.send(.{ .line = .{ .key = key, .line = "tick 10" } });
    try screen.expectSeen(.status_bar, "2 lines · 8 dropped");

    // The end reports the total, in which those eight are.
    try screen.send(.{ .exited = .{ .key = key, .code = 0, .dropped_lines = 10 } });
    try screen.expectSeen(.status_bar, "2 lines · 10 dropped");
}

test "a command that cannot be started is told, and can be tried again" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const key = try start(&screen);
    try screen.fx.feedExitReason(key, -1, .spawn_failed);
    try screen.drain();
    try screen.expectSeen(.text, "Status: could not start");
    try expectIdle(&screen);
}

test "a line is kept when the bytes that it came in are gone, and cut between characters" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const key = try start(&screen);
    var bytes: [main.max_line_bytes + 1]u8 = @splat('a');
    // A character of two bytes lies across the limit.
    bytes[main.max_line_bytes - 1 ..][0..2].* = "é".*;
    try screen.send(.{ .line = .{ .key = key, .line = &bytes } });
    @memset(&bytes, 'x');
    const kept: [main.max_line_bytes - 1]u8 = @splat('a');
    try screen.rebuild();
    try expectLines(&screen, &.{&kept});
}

test "the view is sound at every size of the window" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectSound();
}

test "the running app starts nothing by itself, and says so" {
    const running = try Running.start();
    defer running.stop();
    try testing.expectEqual(0, running.app_state.effects.pendingSpawnCount());
    try running.expectAnnounced(&.{
        &.{ "role=button", "name=\"Start\"", "enabled=true" },
        &.{ "role=button", "name=\"Cancel\"", "enabled=false" },
        &.{"name=\"Status: idle\""},
        &.{"name=\"0 lines · 0 dropped\""},
    });
}
