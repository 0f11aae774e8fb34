//! Drives a Zig app's `update` as its loop does, with the SDK's fake effects executor, which writes down what it is asked
//! for and plays the answers that a test gives: no file, process, network or clock is touched.
//!
//! What `drive.zig` is to a TypeScript core this is to a Zig app, so that the two harnesses of a case read alike:
//!
//!     const main = @import("main.zig");
//!     const drive = @import("eval_drive.zig");
//!     test "refresh asks once" {
//!         var app = try drive.App(main).init(std.testing.allocator);
//!         defer app.deinit();
//!         try app.send(.refresh);
//!         try std.testing.expectEqual(1, app.fx.pendingFetchCount());
//!         try app.fx.feedResponse(app.fx.pendingFetchAt(0).?.key, 200, "[]");
//!         try app.settle();                                        // what was fed arrives
//!         try drive.expectMember("loaded", app.ask("state"));      // a field, or a function of the model
//!     }

const std = @import("std");

/// Leaves a file where the tests run: the check looks for it, so that a spec which nobody ran does not pass.
pub fn leaveMark() !void {
    try std.Io.Dir.cwd().writeFile(std.testing.io, .{ .sub_path = "eval-spec-ran", .data = "" });
}

/// A loop over an app: `@import("main.zig")` with Model, Msg, Effects, initialModel and update(model, msg, fx).
pub fn App(comptime main: type) type {
    return struct {
        const Self = @This();

        gpa: std.mem.Allocator,
        /// What a view's functions allocate in; a test's whole time long.
        arena: *std.heap.ArenaAllocator,
        model: *main.Model,
        fx: *main.Effects,

        /// Model and effects are big, so they are not on the stack.
        pub fn init(gpa: std.mem.Allocator) !Self {
            const arena = try gpa.create(std.heap.ArenaAllocator);
            errdefer gpa.destroy(arena);
            arena.* = .init(gpa);
            errdefer arena.deinit();
            const model = try arena.allocator().create(main.Model);
            model.* = main.initialModel();
            const fx = try gpa.create(main.Effects);
            fx.* = .init(gpa);
            fx.executor = .fake;
            return .{ .gpa = gpa, .arena = arena, .model = model, .fx = fx };
        }

        pub fn deinit(app: *Self) void {
            app.fx.deinit();
            app.gpa.destroy(app.fx);
            app.arena.deinit();
            app.gpa.destroy(app.arena);
        }

        /// Dispatch a message, and whatever the effects channel has to say at once.
        pub fn send(app: *Self, msg: main.Msg) !void {
            main.update(app.model, msg, app.fx);
            try app.settle();
        }

        /// Take in what was fed, or refused.
        pub fn settle(app: *Self) !void {
            var rounds: usize = 0;
            while (app.fx.takeMsg()) |msg| : (rounds += 1) {
                if (rounds > 64) return error.TestAsksInALoop;
                main.update(app.model, msg, app.fx);
            }
        }

        /// What the model says under a name: see `ask`.
        pub fn ask(app: *const Self, comptime name: []const u8) Answer(main.Model, name) {
            return askOf(app.model, name, app.arena.allocator());
        }

        /// The same of one of its items.
        pub fn askItem(app: *const Self, item: anytype, comptime name: []const u8) Answer(@TypeOf(item.*), name) {
            return askOf(item, name, app.arena.allocator());
        }
    };
}

fn Answer(comptime T: type, comptime name: []const u8) type {
    if (@hasField(T, name)) return @FieldType(T, name);
    if (!@hasDecl(T, name)) @compileError(@typeName(T) ++ " has no field and no function `" ++ name ++ "`");
    return @typeInfo(@TypeOf(@field(T, name))).@"fn".return_type.?;
}

/// A field, or a function of the value alone or of the value and an allocator: whatever a view can bind.
fn askOf(of: anytype, comptime name: []const u8, arena: std.mem.Allocator) Answer(@TypeOf(of.*), name) {
    const T = @TypeOf(of.*);
    if (comptime @hasField(T, name)) return @field(of, name);
    const function = @field(T, name);
    const parameters = @typeInfo(@TypeOf(function)).@"fn".params;
    const value = if (comptime parameters[0].type == T) of.* else of;
    return if (comptime parameters.len == 2) function(value, arena) else function(value);
}

// ---- assertions ----
/// Two numbers are equal, whatever their types are.
pub fn expectNumber(expected: anytype, actual: anytype) !void {
    try std.testing.expectEqual(numberOf(expected), numberOf(actual));
}

fn numberOf(value: anytype) f64 {
    return switch (@typeInfo(@TypeOf(value))) {
        .int, .comptime_int => @floatFromInt(value),
        .float, .comptime_float => @floatCast(value),
        else => @compileError(@typeName(@TypeOf(value)) ++ " is no number"),
    };
}

pub fn expectText(expected: []const u8, actual: []const u8) !void {
    try std.testing.expectEqualStrings(expected, actual);
}

/// An enum's member, by its name.
pub fn expectMember(expected: []const u8, actual: anytype) !void {
    try std.testing.expectEqualStrings(expected, @tagName(actual));
}
