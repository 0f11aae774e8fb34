//! What the prompt of dual-pomodoro-timer promises, on the agent's own main.zig. harness-ts.zig asserts the same, test for
//! test.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");
const drive = @import("eval_drive.zig");

const expectEqual = std.testing.expectEqual;
const expectNumber = drive.expectNumber;
const expectText = drive.expectText;

const App = drive.App(main);
const focus_seconds = 25 * 60;
const rest_seconds = 5 * 60;

/// The key of the timer that was armed last.
var timer_key: u64 = 1;

fn start() !App {
    return App.init(std.testing.allocator);
}

/// The phase, what is left of it, and whether it runs: then there is one timer of a second, else none.
fn expectPhase(app: *App, phase: []const u8, remaining: i64, running: bool) !void {
    try drive.expectMember(phase, app.ask("phase"));
    try expectNumber(remaining, app.ask("remaining"));
    try expectEqual(running, app.ask("running"));
    try expectEqual(@as(usize, @intFromBool(running)), app.fx.pendingTimerCount());
    const timer = app.fx.pendingTimerAt(0) orelse return;
    try expectEqual(1000, timer.interval_ms);
    try expectEqual(native_sdk.TimerMode.repeating, timer.mode);
}

/// How many sounds there were since the last time: none or one, as a player has only one.
fn expectSounds(app: *App, count: usize) !void {
    const sound = app.fx.pendingAudio();
    try expectEqual(count, @as(usize, @intFromBool(sound != null)));
    if (sound) |played| try expectEqual(true, played.playing);
    app.fx.stopAudio();
}

fn ticks(app: *App, count: usize) !void {
    for (0..count) |_| {
        const timer = app.fx.pendingTimerAt(0) orelse return error.TestExpectedTimer;
        timer_key = timer.key;
        try app.fx.fireTimer(timer.key);
        try app.settle();
    }
}

/// One that was on its way when its timer ended.
fn lateTick(app: *App) !void {
    try app.send(.{ .tick = .{ .key = timer_key } });
}

test "it begins with a focus phase that does not run" {
    var app = try start();
    defer app.deinit();
    try expectPhase(&app, "focus", focus_seconds, false);
    try expectNumber(0, app.ask("completed"));
    try expectText("25:00", app.ask("clock"));
    try expectText("0 focus phases done", app.ask("summary"));
    try expectSounds(&app, 0);
}

test "start arms one timer of a second, and no second one" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try expectPhase(&app, "focus", focus_seconds, true);
    try ticks(&app, 2);
    try app.send(.start);
    try expectPhase(&app, "focus", focus_seconds - 2, true);
    try expectText("24:58", app.ask("clock"));
}

test "each tick takes one second off" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try ticks(&app, 1);
    try expectText("24:59", app.ask("clock"));
    try ticks(&app, 60);
    try expectPhase(&app, "focus", focus_seconds - 61, true);
    try expectText("23:59", app.ask("clock"));
    try ticks(&app, 23 * 60 + 50);
    try expectText("00:09", app.ask("clock"));
}

test "pause disarms the timer, and start goes on from there" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try ticks(&app, 10);
    try app.send(.pause);
    try expectPhase(&app, "focus", focus_seconds - 10, false);
    try app.send(.pause);
    try expectPhase(&app, "focus", focus_seconds - 10, false);
    try app.send(.start);
    try expectPhase(&app, "focus", focus_seconds - 10, true);
    try ticks(&app, 1);
    try expectPhase(&app, "focus", focus_seconds - 11, true);
}

test "a tick that comes while nothing runs changes nothing" {
    var app = try start();
    defer app.deinit();
    try lateTick(&app);
    try expectPhase(&app, "focus", focus_seconds, false);
    try app.send(.start);
    try ticks(&app, focus_seconds - 1);
    try app.send(.pause);
    try lateTick(&app);
    try expectPhase(&app, "focus", 1, false);
    try expectText("00:01", app.ask("clock"));
    try expectNumber(0, app.ask("completed"));
    try app.send(.reset);
    try lateTick(&app);
    try expectPhase(&app, "focus", focus_seconds, false);
    try expectSounds(&app, 0);
}

test "at the end of focus the rest begins, it is counted, and the sound is played" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try ticks(&app, focus_seconds - 1);
    try expectPhase(&app, "focus", 1, true);
    try expectSounds(&app, 0);
    try ticks(&app, 1);
    try expectPhase(&app, "rest", rest_seconds, true);
    try expectText("05:00", app.ask("clock"));
    try expectNumber(1, app.ask("completed"));
    try expectText("1 focus phase done", app.ask("summary"));
    try expectSounds(&app, 1);
    try ticks(&app, 1);
    try expectPhase(&app, "rest", rest_seconds - 1, true);
    try expectSounds(&app, 0);
}

test "at the end of a rest focus begins, it is not counted, and the sound is played" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try ticks(&app, focus_seconds);
    try expectSounds(&app, 1);
    try ticks(&app, rest_seconds);
    try expectPhase(&app, "focus", focus_seconds, true);
    try expectNumber(1, app.ask("completed"));
    try expectSounds(&app, 1);
}

test "rounds follow one another" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    for (0..3) |_| {
        try ticks(&app, focus_seconds);
        try expectSounds(&app, 1);
        try ticks(&app, rest_seconds);
        try expectSounds(&app, 1);
    }
    try expectPhase(&app, "focus", focus_seconds, true);
    try expectNumber(3, app.ask("completed"));
    try expectText("3 focus phases done", app.ask("summary"));
}

test "a rest can be paused, and goes on as a rest" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try ticks(&app, focus_seconds + 100);
    try app.send(.pause);
    try expectPhase(&app, "rest", rest_seconds - 100, false);
    try lateTick(&app);
    try app.send(.start);
    try expectPhase(&app, "rest", rest_seconds - 100, true);
    try ticks(&app, rest_seconds - 100);
    try expectPhase(&app, "focus", focus_seconds, true);
}

test "skip begins the other phase, uncounted and silent" {
    var app = try start();
    defer app.deinit();
    try app.send(.skip);
    try expectPhase(&app, "rest", rest_seconds, false);
    try app.send(.skip);
    try expectPhase(&app, "focus", focus_seconds, false);
    try app.send(.start);
    try ticks(&app, 70);
    try app.send(.skip);
    try expectPhase(&app, "rest", rest_seconds, true);
    try ticks(&app, 3);
    try app.send(.skip);
    try expectPhase(&app, "focus", focus_seconds, true);
    try expectNumber(0, app.ask("completed"));
    try expectSounds(&app, 0);
}

test "reset goes back to a focus phase that does not run, and the count stays" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try ticks(&app, focus_seconds + 7);
    try expectSounds(&app, 1);
    try app.send(.reset);
    try expectPhase(&app, "focus", focus_seconds, false);
    try expectNumber(1, app.ask("completed"));
    try expectSounds(&app, 0);
    try app.send(.start);
    try ticks(&app, 5);
    try app.send(.pause);
    try app.send(.reset);
    try app.send(.reset);
    try expectPhase(&app, "focus", focus_seconds, false);
    try expectText("1 focus phase done", app.ask("summary"));
}

test "the sound is the chime, and the timer goes on when it fails" {
    var app = try start();
    defer app.deinit();
    try app.send(.start);
    try ticks(&app, focus_seconds);
    try expectText("assets/chime.wav", app.fx.pendingAudio().?.path);
    try app.fx.feedAudioEvent(.failed, 0, 0, false);
    try app.settle();
    try expectPhase(&app, "rest", rest_seconds, true);
    try ticks(&app, rest_seconds);
    try app.fx.feedAudioEvent(.completed, 0, 0, false);
    try app.settle();
    try expectPhase(&app, "focus", focus_seconds, true);
    try expectNumber(1, app.ask("completed"));
}
