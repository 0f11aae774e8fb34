//! The part of an answer in which a bare number says what is shown, and a whole text replaces the draft.

pub const Msg = union(enum) {
    draft_changed: []const u8,
    show: u8,
};

pub const Model = struct {
    draft: []const u8 = "",
    /// 0: all, 1: due, 2: done
    filter: u8 = 0,
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .draft_changed => |text| model.draft = text,
        .show => |number| model.filter = number,
    }
}
