//! A build of its own, whose tests are none.

const std = @import("std");

pub fn build(b: *std.Build) void {
    _ = b.option([]const u8, "platform", "The platform to build for");
    _ = b.step("test", "Run the tests");
}
