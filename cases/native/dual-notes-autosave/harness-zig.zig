//! What the prompt of dual-notes-autosave promises, on the app's own Model, Msg and update: the effects channel only writes
//! down what it is asked for, and the harness says when a pause ends and how a write ends. harness-ts.zig is the same spec,
//! test for test.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const testing = std.testing;
const allocator = testing.allocator;

const App = struct {
    model: main.Model,
    fx: main.Effects,
    /// Results of writes, counted as they come.
    ended: usize = 0,

    fn stop(app: *App) void {
        app.fx.deinit();
        allocator.destroy(app);
    }

    fn send(app: *App, msg: main.Msg) void {
        main.update(&app.model, msg, &app.fx);
        while (app.fx.takeMsg()) |one| {
            app.ended += @intFromBool(one == .save_done);
            main.update(&app.model, one, &app.fx);
        }
    }
};

fn start() !*App {
    const app = try allocator.create(App);
    app.* = .{ .model = main.initialModel(), .fx = .init(allocator) };
    app.fx.executor = .fake;
    return app;
}

// ---- what a user does ----
fn typeTitle(app: *App, text: []const u8) !void {
    app.send(.{ .title_edit = .{ .insert_text = text } });
}

fn typeBody(app: *App, text: []const u8) !void {
    app.send(.{ .body_edit = .{ .insert_text = text } });
}

fn caretToStart(app: *App) !void {
    app.send(.{ .body_edit = .{ .move_caret = .{ .direction = .start } } });
}

fn backspace(app: *App) !void {
    app.send(.{ .body_edit = .delete_backward });
}

fn select(app: *App, id: u32) !void {
    app.send(.{ .select_note = id });
}

fn newNote(app: *App) !void {
    app.send(.new_note);
}

fn deleteNote(app: *App, id: u32) !void {
    app.send(.{ .delete_note = id });
}

fn saveNow(app: *App) !void {
    app.send(.save_now);
}

// ---- what the world does ----
fn drain(app: *App) void {
    while (app.fx.takeMsg()) |one| {
        app.ended += @intFromBool(one == .save_done);
        main.update(&app.model, one, &app.fx);
    }
}

fn pauseEnds(app: *App) !void {
    const timer = app.fx.pendingTimerAt(0) orelse return error.TestNoPause;
    try app.fx.fireTimer(timer.key);
    drain(app);
}

/// A pause that nobody waits for any more.
fn strayPauseEnds(app: *App) !void {
    app.send(.{ .autosave_due = .{ .key = 1 } });
}

fn saveEnds(app: *App, outcome: native_sdk.EffectFileOutcome) !void {
    const write = app.fx.pendingFileAt(0) orelse return error.TestNoSaveUnderWay;
    try app.fx.feedFileResult(write.key, outcome, "");
    drain(app);
}

fn saveLands(app: *App) !void {
    try saveEnds(app, .ok);
}

fn saveFails(app: *App) !void {
    try saveEnds(app, .io_failed);
}

// ---- what is to be seen ----
fn expectState(app: *App, state: []const u8) !void {
    const found = if (comptime @hasField(main.Model, "saveState")) app.model.saveState else app.model.saveState();
    try testing.expectEqualStrings(state, @tagName(found));
}

/// One pause of 800 ms goes on.
fn expectPause(app: *App) !void {
    try testing.expectEqual(1, app.fx.pendingTimerCount());
    const timer = app.fx.pendingTimerAt(0).?;
    try testing.expectEqual(.one_shot, timer.mode);
    try testing.expectEqual(800, timer.interval_ms);
}

fn expectNoPause(app: *App) !void {
    try testing.expectEqual(0, app.fx.pendingTimerCount());
}

/// What `expectArmedAnew` compares with: a pause that goes on is made a very short one, which only arming it anew undoes.
fn noteArmed(app: *App) !void {
    const timer = app.fx.pendingTimerAt(0) orelse return;
    app.fx.startTimer(.{ .key = timer.key, .interval_ms = 1, .mode = timer.mode, .on_fire = main.Effects.timerMsg(.autosave_due) });
}

/// The pause began anew since `noteArmed`.
fn expectArmedAnew(app: *App) !void {
    try expectPause(app);
}

/// One write of these bytes is under way.
fn expectSaving(app: *App, bytes: []const u8) !void {
    try testing.expectEqual(1, app.fx.pendingFileCount());
    const write = app.fx.pendingFileAt(0).?;
    try testing.expectEqual(.write, write.op);
    try testing.expectEqualStrings("notes.tsv", write.path);
    try testing.expectEqualStrings(bytes, write.bytes);
}

fn expectNoSaving(app: *App) !void {
    try testing.expectEqual(0, app.fx.pendingFileCount());
}

/// So many writes were asked for since the start.
fn expectSaves(app: *App, count: usize) !void {
    try testing.expectEqual(count, app.ended + app.fx.pendingFileCount());
}

const ideas_and_scans = "2\tIdeas\tPaint the shed\n3\tScans\tC:\\\\scans\\tpage 4\n";

/// The file with this text in the first note's body, which begins as two lines.
fn withGroceries(comptime text: []const u8) []const u8 {
    return "1\tGroceries\tMilk\\nBread" ++ text ++ "\n" ++ ideas_and_scans;
}

test "nothing is saved before anything changes" {
    const app = try start();
    defer app.stop();
    try expectState(app, "idle");
    try saveNow(app);
    try strayPauseEnds(app);
    try expectState(app, "idle");
    try expectNoPause(app);
    try expectNoSaving(app);
}

test "a change is saved when the pause behind it ends" {
    const app = try start();
    defer app.stop();
    try typeBody(app, ", eggs");
    try expectState(app, "pending");
    try expectPause(app);
    try expectNoSaving(app);
    try pauseEnds(app);
    try expectState(app, "saving");
    try expectNoPause(app);
    try expectSaving(app, withGroceries(", eggs"));
    try saveLands(app);
    try expectState(app, "saved");
    try expectNoPause(app);
    try expectNoSaving(app);
    try expectSaves(app, 1);
}

test "each change begins the pause anew" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "a");
    try noteArmed(app);
    try typeBody(app, "b");
    try expectArmedAnew(app);
    try noteArmed(app);
    try typeTitle(app, "c");
    try expectArmedAnew(app);
    try noteArmed(app);
    try newNote(app);
    try expectArmedAnew(app);
    try noteArmed(app);
    try deleteNote(app, 3);
    try expectArmedAnew(app);
    try expectNoSaving(app);
}

test "a caret that moves and a note that is opened are no changes" {
    const app = try start();
    defer app.stop();
    try caretToStart(app);
    try backspace(app);
    try select(app, 2);
    try expectState(app, "idle");
    try expectNoPause(app);
    try typeBody(app, "!");
    try pauseEnds(app);
    try saveLands(app);
    try caretToStart(app);
    try backspace(app);
    try select(app, 3);
    try expectState(app, "saved");
    try expectNoPause(app);
}

test "titles, new notes and deletions are changes" {
    const app = try start();
    defer app.stop();
    try typeTitle(app, " today");
    try expectState(app, "pending");
    try pauseEnds(app);
    try expectSaving(app, "1\tGroceries today\tMilk\\nBread\n" ++ ideas_and_scans);
    try saveLands(app);
    try newNote(app);
    try expectState(app, "pending");
    try pauseEnds(app);
    try expectSaving(app, "1\tGroceries today\tMilk\\nBread\n" ++ ideas_and_scans ++ "4\t\t\n");
    try saveLands(app);
    try deleteNote(app, 1);
    try expectState(app, "pending");
    try pauseEnds(app);
    try expectSaving(app, ideas_and_scans ++ "4\t\t\n");
}

test "tabs, line breaks and backslashes stay within their field" {
    const app = try start();
    defer app.stop();
    try typeTitle(app, "\\");
    try typeBody(app, "\n\n\ta\\n");
    try pauseEnds(app);
    try expectSaving(app, "1\tGroceries\\\\\tMilk\\nBread\\n\\n\\ta\\\\n\n" ++ ideas_and_scans);
}

test "no notes are an empty file" {
    const app = try start();
    defer app.stop();
    try deleteNote(app, 2);
    try deleteNote(app, 1);
    try deleteNote(app, 3);
    try pauseEnds(app);
    try expectSaving(app, "");
    try saveLands(app);
    try expectState(app, "saved");
}

test "save now does not wait, and ends the pause" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "!");
    try saveNow(app);
    try expectState(app, "saving");
    try expectNoPause(app);
    try expectSaving(app, withGroceries("!"));
    try saveLands(app);
    try expectState(app, "saved");
}

test "save now does nothing where everything is saved or on its way" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "!");
    try saveNow(app);
    try saveNow(app);
    try strayPauseEnds(app);
    try expectState(app, "saving");
    try saveLands(app);
    try expectState(app, "saved");
    try expectNoSaving(app);
    try saveNow(app);
    try strayPauseEnds(app);
    try expectNoSaving(app);
    try expectSaves(app, 1);
}

test "a save that lands after newer changes does not mark them saved" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "1");
    try saveNow(app);
    try typeBody(app, "2");
    try expectState(app, "pending");
    try expectPause(app);
    try saveLands(app);
    try expectState(app, "pending");
    try expectPause(app);
    try expectNoSaving(app);
    try pauseEnds(app);
    try expectSaving(app, withGroceries("12"));
    try saveLands(app);
    try expectState(app, "saved");
    try expectSaves(app, 2);
}

test "a pause that ends during a save begins the next one when that is back" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "1");
    try saveNow(app);
    try typeBody(app, "2");
    try pauseEnds(app);
    try expectState(app, "pending");
    try expectSaving(app, withGroceries("1"));
    try saveLands(app);
    try expectState(app, "saving");
    try expectSaving(app, withGroceries("12"));
    try saveLands(app);
    try expectState(app, "saved");
    try expectNoSaving(app);
    try expectSaves(app, 2);
}

test "save now during a save begins the next one when that is back, with all there is by then" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "1");
    try saveNow(app);
    try typeBody(app, "2");
    try saveNow(app);
    try expectNoPause(app);
    try expectSaving(app, withGroceries("1"));
    try typeBody(app, "3");
    try expectState(app, "pending");
    try saveLands(app);
    try expectState(app, "saving");
    try expectNoPause(app);
    try expectSaving(app, withGroceries("123"));
    try saveLands(app);
    try expectState(app, "saved");
    try expectSaves(app, 2);
}

test "a save that fails is told, and nothing is tried again by itself" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "!");
    try pauseEnds(app);
    try saveFails(app);
    try expectState(app, "failed");
    try expectNoPause(app);
    try expectNoSaving(app);
}

test "the next change after a failure is saved with the rest" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "1");
    try pauseEnds(app);
    try saveFails(app);
    try typeBody(app, "2");
    try expectState(app, "pending");
    try expectPause(app);
    try pauseEnds(app);
    try expectState(app, "saving");
    try expectSaving(app, withGroceries("12"));
    try saveLands(app);
    try expectState(app, "saved");
}

test "save now tries a failed save again" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "!");
    try saveNow(app);
    try saveFails(app);
    try saveNow(app);
    try expectState(app, "saving");
    try expectSaving(app, withGroceries("!"));
    try saveLands(app);
    try expectState(app, "saved");
}

test "a save that fails after newer changes leaves them to their pause" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "1");
    try saveNow(app);
    try typeBody(app, "2");
    try saveFails(app);
    try expectState(app, "pending");
    try expectPause(app);
    try expectNoSaving(app);
    try pauseEnds(app);
    try expectSaving(app, withGroceries("12"));
}

test "a save that fails lets the one begin that waits for it" {
    const app = try start();
    defer app.stop();
    try typeBody(app, "1");
    try saveNow(app);
    try typeBody(app, "2");
    try saveNow(app);
    try saveFails(app);
    try expectState(app, "saving");
    try expectSaving(app, withGroceries("12"));
    try saveLands(app);
    try expectState(app, "saved");
}
