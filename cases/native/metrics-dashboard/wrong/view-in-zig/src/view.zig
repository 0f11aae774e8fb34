//! The dashboard built by hand in Zig, where the view was to be declared.

const main = @import("main.zig");

pub fn view(ui: *main.AppUi, model: *const main.Model) main.AppUi.Node {
    return ui.column(.{ .gap = 12, .padding = 16 }, .{
        ui.text(.{}, "Requests per minute"),
        ui.text(.{}, ui.fmt("latest {d}", .{model.latest()})),
    });
}
