//! The tests look at values alone, and pass.

const main = @import("main.zig");
const testing = @import("std").testing;

test "picking sets the value" {
    var model = main.initialModel();
    main.update(&model, .{ .pick_theme = .dark });
    try testing.expectEqual(main.Theme.dark, model.theme);
}
