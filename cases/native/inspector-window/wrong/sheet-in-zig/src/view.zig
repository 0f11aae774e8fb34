//! The inspector as a sheet over the list.

const main = @import("main.zig");

pub fn inspector(ui: *main.AppUi, model: *const main.Model) main.AppUi.Node {
    return ui.el(.sheet, .{ .on_dismiss = .inspector_closed }, .{
        ui.text(.{}, model.title()),
    });
}
