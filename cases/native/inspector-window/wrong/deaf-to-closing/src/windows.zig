//! Declares the inspector, and asks for no message when its user closes it.

const main = @import("main.zig");

pub fn windows(model: *const main.Model, scratch: *main.TasksApp.WindowsScratch) []const main.TasksApp.WindowDescriptor {
    if (!model.inspector_open) return &.{};
    scratch.windows[0] = .{ .label = "inspector", .canvas_label = "inspector-canvas", .title = "Inspector" };
    return scratch.windows[0..1];
}
