//! Runs the command by itself.

const std = @import("std");

pub fn read(io: std.Io, gpa: std.mem.Allocator) ![]const u8 {
    const result = try std.process.run(gpa, io, .{ .argv = &.{ "uname", "-snrm" } });
    return result.stdout;
}
