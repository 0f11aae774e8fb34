//! The part of an answer that runs the command by hand: a child process, and a thread that reads it.

const std = @import("std");

pub const Monitor = struct {
    child: ?std.process.Child = null,
    reader: ?std.Thread = null,

    pub fn start(monitor: *Monitor, io: std.Io) !void {
        monitor.child = try std.process.spawn(io, .{ .argv = &.{ "sh", "-c", "echo tick" }, .stdout = .pipe });
        monitor.reader = try std.Thread.spawn(.{}, read, .{monitor});
    }

    pub fn stop(monitor: *Monitor, io: std.Io) void {
        if (monitor.child) |*child| child.kill(io);
        if (monitor.reader) |reader| reader.join();
    }

    fn read(monitor: *Monitor) void {
        _ = monitor;
    }
};
