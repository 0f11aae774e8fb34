const std = @import("std");
const main = @import("main.zig");

const testing = std.testing;

test "the inspector shows the selected task and can be dismissed" {
    var model = main.initialModel();
    main.update(&model, .{ .select = 3 });
    try testing.expectEqualStrings("Ada", model.owner());
    main.update(&model, .toggle_done);
    try testing.expectEqual(@as(usize, 1), model.doneCount());
    main.update(&model, .inspector_closed);
    try testing.expectEqualStrings("closed", model.inspectorState());
}
