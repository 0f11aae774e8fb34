//! Drives a transpiled core as its host does, and plays the outside world: no file, process, network or clock is touched.
//!
//! One dispatch is: update, commitModelRoot, the commands, the subscriptions, frameReset. What commands ask for is kept as
//! being in flight until a test answers it, by the rules of the SDK's host (`src/runtime/ts_core_host.zig`):
//!
//!   * fetch, read_file, write_file, clip_read, request: a second one with a live key replaces the first, whose answer is
//!     dropped without a message; `Cmd.cancel` drops it as silently.
//!   * delay: one that has a live key is armed anew; cancel drops it. An answer or a fire ends it.
//!   * spawn: a live key refuses the second one (its err arm gets "rejected"); cancel ends it with "cancelled".
//!   * audio_play: one player; a new one replaces the stream, audio_ctl stop closes it.
//!   * now: is answered at once, with `clock_ms`.
//!
//! A test of a core that has no effects:
//!
//!     const core = @import("core.zig");
//!     const drive = @import("drive.zig");
//!     test "adding trims the draft" {
//!         var app = try drive.App(core).init(std.testing.allocator);
//!         defer app.deinit();
//!         try app.send("draft_edit", .{ .text = "  Read  " });     // payloads by the names that TypeScript gave them
//!         try app.send("add", .{});
//!         try drive.expectNumber(4, app.model.habits.len);
//!         try drive.expectText("Read", app.model.habits[3].name);
//!     }
//!
//! And of one that has some (`index` counts those of a kind that are in flight, the oldest first):
//!
//!     try app.send("refresh", .{});
//!     const fetch = try app.only(.fetch);                           // exactly one is in flight
//!     try drive.expectText("https://…", fetch.url);
//!     try app.fetchDone(0, 200, "[]");                              // the ok arm; fetchFailed(0, "timed_out"): the err arm
//!     try std.testing.expectEqual(0, app.live(.fetch));
//!     try app.delayFires(0);  try app.timerFires(0);                // Cmd.delay and Sub.timer; `app.timer(0).?.every_ms`
//!     try app.spawnLine(0, "x");  try app.spawnExit(0, 0, "out");  try app.spawnFailed(0, "spawn_failed");
//!     try app.readDone(0, "bytes");  try app.writeDone(0);  try app.writeFailed(0, "io_failed");
//!     try app.audioEvent("completed");  app.started(.audio_play)    // all that were ever asked for, answered or not
//!
//! Numbers: the transpiler makes a TypeScript `number` an i64 where it can prove an integer, else an f64, so two right
//! answers differ. `send` takes any number; compare with `expectNumber`. Enums are given as text ("food"), null as null,
//! a record by its fields, a union of kinds as `.{ .insert_text = .{ .text = "x" } }` or "clear".
//! Texts of the model are valid until the next dispatch. A kernel is one for all tests: one App at a time.

const std = @import("std");
const cmdview = @import("cmdview.zig");

const Cmd = cmdview.Cmd;
const Op = cmdview.Op;

/// A host over an emitted core: `@import("core.zig")`.
pub fn App(comptime core: type) type {
    return struct {
        const Self = @This();
        const Msg = core.Msg;

        arena: *std.heap.ArenaAllocator,
        /// The committed model.
        model: *const core.Model,
        /// What `Cmd.now`, delays and timers tell as the time.
        clock_ms: f64 = 1_700_000_000_000,
        /// All commands since the start, in their order.
        issued: std.ArrayList(Cmd) = .empty,
        /// Of these, what waits for an answer: places in `issued`, the oldest first.
        flying: std.ArrayList(usize) = .empty,
        /// The subscriptions that the committed model declares.
        subs: []const u8 = "",
        /// Messages that the host itself owes: of refused and cancelled programs.
        owed: std.ArrayList(struct { tag: u8, reason: []const u8 }) = .empty,
        nows: std.ArrayList(u8) = .empty,
        audio: ?cmdview.AudioPlay = null,

        /// The initial model, its boot command in flight.
        pub fn init(gpa: std.mem.Allocator) !Self {
            const arena = try gpa.create(std.heap.ArenaAllocator);
            arena.* = .init(gpa);
            errdefer {
                arena.deinit();
                gpa.destroy(arena);
            }
            core.rt.resetAll();
            const initial = core.initialModel();
            var app: Self = .{ .arena = arena, .model = core.commitModelRoot(modelOf(initial)) };
            try app.finish(cmdOf(initial));
            try app.settle();
            return app;
        }

        pub fn deinit(app: *Self) void {
            const gpa = app.arena.child_allocator;
            app.arena.deinit();
            gpa.destroy(app.arena);
        }

        /// Dispatch a message by its kind. payload: the values by their TypeScript names, `.{}` where there are none.
        pub fn send(app: *Self, comptime kind: []const u8, payload: anytype) !void {
            if (!@hasField(Msg, kind)) @compileError("Msg has no kind `" ++ kind ++ "`");
            try app.dispatch(@unionInit(Msg, kind, make(@FieldType(Msg, kind), payload)));
        }

        // ---- what is in flight ----
        /// How many of a kind are in flight.
        pub fn live(app: *const Self, op: Op) usize {
            var found: usize = 0;
            for (app.flying.items) |place| found += @intFromBool(app.issued.items[place] == op);
            return found;
        }

        /// How many of a kind were ever asked for.
        pub fn started(app: *const Self, op: Op) usize {
            var found: usize = 0;
            for (app.issued.items) |cmd| found += @intFromBool(cmd == op);
            return found;
        }

        /// One that is in flight.
        pub fn at(app: *const Self, comptime op: Op, index: usize) !@FieldType(Cmd, @tagName(op)) {
            const place = app.flying.items[try app.placeOf(op, index)];
            return @field(app.issued.items[place], @tagName(op));
        }

        /// The only one of its kind that is in flight.
        pub fn only(app: *const Self, comptime op: Op) !@FieldType(Cmd, @tagName(op)) {
            if (app.live(op) != 1) {
                std.debug.print("expected one {t} in flight, found {d}\n", .{ op, app.live(op) });
                return error.TestExpectedOneInFlight;
            }
            return app.at(op, 0);
        }

        /// A recurring timer that the model declares; null behind the last.
        pub fn timer(app: *const Self, index: usize) ?cmdview.Timer {
            return cmdview.timer(app.subs, index) catch unreachable; // it was read when it was declared
        }

        pub fn timers(app: *const Self) usize {
            var found: usize = 0;
            while (app.timer(found) != null) found += 1;
            return found;
        }

        // ---- answers ----
        pub fn fetchDone(app: *Self, index: usize, status: u16, body: []const u8) !void {
            const fetch = try app.take(.fetch, index);
            try app.dispatch(try withNumberAndBytes(fetch.ok, @floatFromInt(status), body));
        }

        /// reason: "connect_failed", "tls_failed", "protocol_failed", "timed_out", "truncated" or "rejected".
        pub fn fetchFailed(app: *Self, index: usize, reason: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.fetch, index)).err, reason));
        }

        pub fn readDone(app: *Self, index: usize, bytes: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.read_file, index)).ok, bytes));
        }

        /// reason: "not_found", "io_failed", "truncated" or "rejected".
        pub fn readFailed(app: *Self, index: usize, reason: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.read_file, index)).err, reason));
        }

        pub fn writeDone(app: *Self, index: usize) !void {
            try app.dispatch(try bare((try app.take(.write_file, index)).ok));
        }

        /// reason: "io_failed" or "rejected".
        pub fn writeFailed(app: *Self, index: usize, reason: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.write_file, index)).err, reason));
        }

        pub fn clipboardDone(app: *Self, index: usize, text: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.clip_read, index)).ok, text));
        }

        pub fn requestDone(app: *Self, index: usize, bytes: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.request, index)).ok, bytes));
        }

        pub fn requestFailed(app: *Self, index: usize, bytes: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.request, index)).err, bytes));
        }

        pub fn spawnLine(app: *Self, index: usize, line: []const u8) !void {
            const spawn = try app.at(.spawn, index);
            if (spawn.line) |tag| try app.dispatch(try withBytes(tag, line));
        }

        /// output: what it printed, where it is collected; else it is not looked at.
        pub fn spawnExit(app: *Self, index: usize, code: i32, output: []const u8) !void {
            const spawn = try app.take(.spawn, index);
            try app.dispatch(if (spawn.collect)
                try withNumberAndBytes(spawn.exit, @floatFromInt(code), output)
            else
                try withNumber(spawn.exit, @floatFromInt(code)));
        }

        /// reason: "spawn_failed", "signaled", "cancelled", "truncated" or "rejected".
        pub fn spawnFailed(app: *Self, index: usize, reason: []const u8) !void {
            try app.dispatch(try withBytes((try app.take(.spawn, index)).err, reason));
        }

        /// The time of a delay is over: the clock goes on by it.
        pub fn delayFires(app: *Self, index: usize) !void {
            const delay = try app.take(.delay, index);
            app.clock_ms += delay.after_ms;
            try app.dispatch(try withNumber(delay.tag, app.clock_ms));
        }

        /// A recurring timer fires once: the clock goes on by its interval.
        pub fn timerFires(app: *Self, index: usize) !void {
            const declared = app.timer(index) orelse {
                std.debug.print("no timer is declared at {d}: there are {d}\n", .{ index, app.timers() });
                return error.TestExpectedTimer;
            };
            app.clock_ms += declared.every_ms;
            try app.dispatch(try withNumber(declared.tag, app.clock_ms));
        }

        /// An event of the open audio stream. state: "loaded", "position", "completed", "failed" or "rejected".
        pub fn audioEvent(app: *Self, comptime state: []const u8) !void {
            const open = app.audio orelse {
                std.debug.print("no audio is open\n", .{});
                return error.TestExpectedAudio;
            };
            inline for (comptime std.meta.fieldNames(Msg), 0..) |name, place| {
                const Payload = @FieldType(Msg, name);
                if (comptime @typeInfo(Payload) == .@"struct" and @hasField(Payload, "bands")) {
                    if (place == open.event) return app.dispatch(@unionInit(Msg, name, make(Payload, .{
                        .state = state,
                        .positionMs = 0,
                        .durationMs = 0,
                        .playing = false,
                        .buffering = false,
                        .bands = "",
                    })));
                }
            }
            return error.TestNotAnAudioArm;
        }

        // ---- the cycle ----
        fn dispatch(app: *Self, msg: Msg) !void {
            try app.cycle(msg);
            try app.settle();
        }

        fn cycle(app: *Self, msg: Msg) !void {
            const result = core.update(app.model, msg);
            app.model = core.commitModelRoot(modelOf(result));
            try app.finish(cmdOf(result));
        }

        /// Commands and subscriptions are read before the frame that they lie in is reset.
        fn finish(app: *Self, cmd: []const u8) !void {
            const allocator = app.arena.allocator();
            var commands = cmdview.read(try allocator.dupe(u8, cmd));
            while (try commands.next()) |one| try app.takeUp(one);
            if (@hasDecl(core, "subscriptions")) {
                app.subs = try allocator.dupe(u8, core.subscriptions(app.model));
                var index: usize = 0;
                while (try cmdview.timer(app.subs, index)) |declared| : (index += 1) try inRange(declared.every_ms);
            }
            core.rt.frameReset();
        }

        /// What the host owes: the time at once, then what became of refused and cancelled programs.
        fn settle(app: *Self) !void {
            var rounds: usize = 0;
            while (app.nows.items.len + app.owed.items.len > 0) : (rounds += 1) {
                if (rounds > 64) return error.TestAsksForTheTimeInALoop;
                if (app.nows.items.len > 0) {
                    try app.cycle(try withNumber(app.nows.orderedRemove(0), app.clock_ms));
                } else {
                    const owed = app.owed.orderedRemove(0);
                    try app.cycle(try withBytes(owed.tag, owed.reason));
                }
            }
        }

        fn takeUp(app: *Self, cmd: Cmd) !void {
            const allocator = app.arena.allocator();
            const place = app.issued.items.len;
            try app.issued.append(allocator, cmd);
            switch (cmd) {
                .now => |now| try app.nows.append(allocator, now.tag),
                .fetch, .read_file, .write_file, .clip_read => {
                    app.drop(cmd.key().?, &.{ .fetch, .read_file, .write_file, .clip_read });
                    try app.flying.append(allocator, place);
                },
                .request, .delay => {
                    if (cmd == .delay) try inRange(cmd.delay.after_ms);
                    app.drop(cmd.key().?, &.{std.meta.activeTag(cmd)});
                    try app.flying.append(allocator, place);
                },
                .spawn => |spawn| {
                    if (app.find(spawn.key, &.{.spawn}) != null)
                        try app.owed.append(allocator, .{ .tag = spawn.err, .reason = "rejected" })
                    else
                        try app.flying.append(allocator, place);
                },
                .cancel => |cancel| {
                    if (app.find(cancel.key, &.{.request})) |index| {
                        _ = app.flying.orderedRemove(index);
                    } else if (app.find(cancel.key, &.{ .fetch, .read_file, .write_file, .clip_read })) |index| {
                        _ = app.flying.orderedRemove(index);
                    } else if (app.find(cancel.key, &.{.spawn})) |index| {
                        const spawn = app.issued.items[app.flying.orderedRemove(index)].spawn;
                        try app.owed.append(allocator, .{ .tag = spawn.err, .reason = "cancelled" });
                    } else app.drop(cancel.key, &.{.delay});
                },
                .audio_play => |play| app.audio = play,
                .audio_ctl => |ctl| if (app.audio) |open| {
                    if (ctl.verb == .stop and std.mem.eql(u8, ctl.key, open.key)) app.audio = null;
                },
                else => {},
            }
        }

        fn find(app: *const Self, key: []const u8, ops: []const Op) ?usize {
            if (key.len == 0) return null;
            for (app.flying.items, 0..) |place, index| {
                const cmd = app.issued.items[place];
                if (std.mem.indexOfScalar(Op, ops, cmd) != null and std.mem.eql(u8, cmd.key().?, key)) return index;
            }
            return null;
        }

        fn drop(app: *Self, key: []const u8, ops: []const Op) void {
            if (app.find(key, ops)) |index| _ = app.flying.orderedRemove(index);
        }

        fn placeOf(app: *const Self, op: Op, index: usize) !usize {
            var left = index;
            for (app.flying.items, 0..) |place, where| {
                if (app.issued.items[place] != op) continue;
                if (left == 0) return where;
                left -= 1;
            }
            std.debug.print("no {t} is in flight at {d}: there are {d}\n", .{ op, index, app.live(op) });
            return error.TestExpectedInFlight;
        }

        fn take(app: *Self, comptime op: Op, index: usize) !@FieldType(Cmd, @tagName(op)) {
            const found = try app.at(op, index);
            _ = app.flying.orderedRemove(try app.placeOf(op, index));
            return found;
        }

        // ---- messages by their place in Msg ----
        fn bare(tag: u8) !Msg {
            inline for (comptime std.meta.fieldNames(Msg), 0..) |name, place| {
                if (@FieldType(Msg, name) == void and tag == place) return @unionInit(Msg, name, {});
            }
            return error.TestArmHasAPayload;
        }

        fn withBytes(tag: u8, bytes: []const u8) !Msg {
            inline for (comptime std.meta.fieldNames(Msg), 0..) |name, place| {
                if (@FieldType(Msg, name) == []const u8 and tag == place) return @unionInit(Msg, name, copied(bytes));
            }
            return error.TestArmTakesNoBytes;
        }

        fn withNumber(tag: u8, value: f64) !Msg {
            inline for (comptime std.meta.fieldNames(Msg), 0..) |name, place| {
                const Payload = @FieldType(Msg, name);
                if (comptime isNumber(Payload)) {
                    if (tag == place) return @unionInit(Msg, name, numberAs(Payload, value));
                }
            }
            return error.TestArmTakesNoNumber;
        }

        /// The two fields have any names: the number is the one, the bytes are the other.
        fn withNumberAndBytes(tag: u8, value: f64, bytes: []const u8) !Msg {
            inline for (comptime std.meta.fieldNames(Msg), 0..) |name, place| {
                const Payload = @FieldType(Msg, name);
                if (comptime isNumberAndBytes(Payload)) {
                    if (tag == place) {
                        var payload: Payload = undefined;
                        inline for (comptime std.meta.fieldNames(Payload)) |field| {
                            const Field = @FieldType(Payload, field);
                            @field(payload, field) = if (Field == []const u8) copied(bytes) else numberAs(Field, value);
                        }
                        return @unionInit(Msg, name, payload);
                    }
                }
            }
            return error.TestArmTakesNoNumberWithBytes;
        }

        /// Bytes of a message lie in the frame, as the host's do: only what lies there is taken into the model's heap.
        fn copied(bytes: []const u8) []const u8 {
            const copy = core.rt.frameAlloc(u8, bytes.len);
            @memcpy(copy, bytes);
            return copy;
        }

        /// A value of the core's type out of a test's.
        fn make(comptime T: type, value: anytype) T {
            const Value = @TypeOf(value);
            if (T == void) return {};
            if (T == []const u8) return copied(alone(T, value));
            switch (@typeInfo(T)) {
                .int, .float => return numberAs(T, numberOf(alone(T, value))),
                .bool => return alone(T, value),
                .@"enum" => {
                    const text: []const u8 = alone(T, value);
                    return std.meta.stringToEnum(T, text) orelse std.debug.panic("{s} has no member {s}", .{ @typeName(T), text });
                },
                .optional => |optional| {
                    const inner = alone(T, value);
                    if (@TypeOf(inner) == @TypeOf(null)) return null;
                    return make(optional.child, inner);
                },
                .pointer => |pointer| switch (pointer.size) {
                    .one => return core.rt.frameCreate(pointer.child, make(pointer.child, alone(pointer.child, value))),
                    .slice => {
                        const items = alone(T, value);
                        const made = core.rt.frameAlloc(pointer.child, items.len);
                        inline for (items, 0..) |item, index| made[index] = make(pointer.child, item);
                        return made;
                    },
                    else => @compileError("a test cannot make a " ++ @typeName(T)),
                },
                .@"struct" => {
                    const record = alone(T, value);
                    var made: T = undefined;
                    inline for (comptime std.meta.fieldNames(T)) |name| {
                        @field(made, name) = make(@FieldType(T, name), @field(record, name));
                    }
                    return made;
                },
                .@"union" => {
                    if (comptime isText(Value)) {
                        inline for (comptime std.meta.fieldNames(T)) |name| {
                            if (@FieldType(T, name) == void and std.mem.eql(u8, name, value)) return @unionInit(T, name, {});
                        }
                        std.debug.panic("{s} has no bare kind {s}", .{ @typeName(T), value });
                    }
                    const name = comptime std.meta.fieldNames(Value)[0];
                    if (comptime @hasField(T, name)) return @unionInit(T, name, make(@FieldType(T, name), @field(value, name)));
                    return make(T, @field(value, name));
                },
                else => @compileError("a test cannot make a " ++ @typeName(T)),
            }
        }

        /// The value itself, or the only field of a record that stands for it: a kind with one field has that as its payload.
        inline fn alone(comptime T: type, value: anytype) Alone(T, @TypeOf(value)) {
            if (comptime isWrapped(T, @TypeOf(value))) return @field(value, std.meta.fieldNames(@TypeOf(value))[0]);
            return value;
        }

        fn Alone(comptime T: type, comptime Value: type) type {
            return if (isWrapped(T, Value)) @FieldType(Value, std.meta.fieldNames(Value)[0]) else Value;
        }

        fn isWrapped(comptime T: type, comptime Value: type) bool {
            const info = @typeInfo(Value);
            if (info != .@"struct" or info.@"struct".is_tuple or info.@"struct".fields.len != 1) return false;
            return !(@typeInfo(T) == .@"struct" and @hasField(T, info.@"struct".fields[0].name));
        }
    };
}

fn modelOf(result: anytype) if (@typeInfo(@TypeOf(result)) == .pointer) @TypeOf(result) else @FieldType(@TypeOf(result), "model") {
    return if (comptime @typeInfo(@TypeOf(result)) == .pointer) result else result.model;
}

/// A pure core's result is the model alone.
fn cmdOf(result: anytype) []const u8 {
    return if (comptime @typeInfo(@TypeOf(result)) == .pointer) "" else result.cmd;
}

/// The host ends the app for an interval below a millisecond or above a year.
fn inRange(ms: f64) !void {
    if (ms >= 1 and ms <= 365 * std.time.ms_per_day) return;
    std.debug.print("an interval of {d} ms is refused by the host\n", .{ms});
    return error.TestIntervalOutOfRange;
}

fn isNumber(comptime T: type) bool {
    return switch (@typeInfo(T)) {
        .int, .float => true,
        else => false,
    };
}

fn isText(comptime T: type) bool {
    const info = @typeInfo(T);
    if (info != .pointer) return false;
    if (info.pointer.size == .slice) return info.pointer.child == u8;
    const child = @typeInfo(info.pointer.child);
    return info.pointer.size == .one and child == .array and child.array.child == u8;
}

fn isNumberAndBytes(comptime T: type) bool {
    if (@typeInfo(T) != .@"struct") return false;
    const fields = @typeInfo(T).@"struct".fields;
    if (fields.len != 2) return false;
    return (isNumber(fields[0].type) and fields[1].type == []const u8) or
        (isNumber(fields[1].type) and fields[0].type == []const u8);
}

/// Any number as an f64.
pub fn numberOf(value: anytype) f64 {
    return switch (@typeInfo(@TypeOf(value))) {
        .int, .comptime_int => @floatFromInt(value),
        .float, .comptime_float => @floatCast(value),
        else => @compileError(@typeName(@TypeOf(value)) ++ " is no number"),
    };
}

fn numberAs(comptime T: type, value: f64) T {
    return switch (@typeInfo(T)) {
        .int => @intFromFloat(value),
        else => @floatCast(value),
    };
}

// ---- assertions ----
/// Two numbers are equal, whichever of them is an integer to the transpiler.
pub fn expectNumber(expected: anytype, actual: anytype) !void {
    try std.testing.expectEqual(numberOf(expected), numberOf(actual));
}

pub fn expectText(expected: []const u8, actual: []const u8) !void {
    try std.testing.expectEqualStrings(expected, actual);
}

/// An enum's member, by its TypeScript spelling.
pub fn expectMember(expected: []const u8, actual: anytype) !void {
    try std.testing.expectEqualStrings(expected, @tagName(actual));
}
