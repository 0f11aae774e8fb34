//! What to pack for a trip: the items, what the list shows of them, and the two
//! fields that the user types into.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(480, 480);
pub const window_min_size = geometry.SizeF.init(360, 320);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Packing canvas", .accessibility_label = "Packing", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Packing",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const max_items = 64;
pub const max_title_bytes = 48;

pub const Item = struct {
    id: u32 = 0,
    done: bool = false,
    title_storage: [max_title_bytes]u8 = undefined,
    title_len: usize = 0,

    pub fn title(item: *const Item) []const u8 {
        return item.title_storage[0..item.title_len];
    }
};

pub const Filter = enum {
    all,
    open,
    done,

    fn shows(filter: Filter, item: *const Item) bool {
        return switch (filter) {
            .all => true,
            .open => !item.done,
            .done => item.done,
        };
    }
};

pub const Msg = union(enum) {
    draft_edit: canvas.TextInputEvent,
    query_edit: canvas.TextInputEvent,
    add_item,
    toggle_item: u32,
    delete_item: u32,
    clear_done,
    set_filter: Filter,
};

pub const Model = struct {
    items: [max_items]Item = @splat(.{}),
    item_count: usize = 0,
    next_id: u32 = 1,
    filter: Filter = .all,
    draft_buffer: canvas.TextBuffer(max_title_bytes) = .{},
    query_buffer: canvas.TextBuffer(max_title_bytes) = .{},
    /// What the list shows: `refresh` keeps it.
    visible: [max_items]Item = @splat(.{}),
    visible_count: usize = 0,

    pub const view_unbound = .{ "items", "item_count", "next_id", "draft_buffer", "query_buffer", "visible", "visible_count" };

    pub const filters = [_]Filter{ .all, .open, .done };

    pub fn draft(model: *const Model) []const u8 {
        return model.draft_buffer.text();
    }

    pub fn query(model: *const Model) []const u8 {
        return model.query_buffer.text();
    }

    pub fn visibleItems(model: *const Model) []const Item {
        return model.visible[0..model.visible_count];
    }

    pub fn itemCount(model: *const Model) usize {
        return model.item_count;
    }

    pub fn openCount(model: *const Model) usize {
        var count: usize = 0;
        for (model.items[0..model.item_count]) |item| count += @intFromBool(!item.done);
        return count;
    }

    fn refresh(model: *Model) void {
        const wanted = trimmed(model.query());
        model.visible_count = 0;
        for (model.items[0..model.item_count]) |*item| {
            if (!model.filter.shows(item)) continue;
            if (std.ascii.indexOfIgnoreCase(item.title(), wanted) == null) continue;
            model.visible[model.visible_count] = item.*;
            model.visible_count += 1;
        }
    }

    /// The caller has made sure that there is room.
    fn append(model: *Model, title: []const u8, done: bool) void {
        var item: Item = .{ .id = model.next_id, .done = done, .title_len = title.len };
        @memcpy(item.title_storage[0..title.len], title);
        model.items[model.item_count] = item;
        model.item_count += 1;
        model.next_id += 1;
    }
};

fn trimmed(text: []const u8) []const u8 {
    return std.mem.trim(u8, text, " \t");
}

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .draft_edit => |edit| model.draft_buffer.apply(edit),
        .query_edit => |edit| {
            model.query_buffer.apply(edit);
            model.refresh();
        },
        .add_item => {
            const title = trimmed(model.draft());
            if (title.len == 0 or model.item_count == max_items) return;
            model.append(title, false);
            model.draft_buffer.clear();
            model.refresh();
        },
        .toggle_item => |id| {
            for (model.items[0..model.item_count]) |*item| {
                if (item.id == id) item.done = !item.done;
            }
            model.refresh();
        },
        .delete_item => |id| {
            var kept: usize = 0;
            for (model.items[0..model.item_count]) |item| {
                if (item.id == id) continue;
                model.items[kept] = item;
                kept += 1;
            }
            model.item_count = kept;
            model.refresh();
        },
        .clear_done => {
            var kept: usize = 0;
            for (model.items[0..model.item_count]) |item| {
                if (item.done) continue;
                model.items[kept] = item;
                kept += 1;
            }
            model.item_count = kept;
        },
        .set_filter => |filter| {
            model.filter = filter;
            model.refresh();
        },
    }
}

pub fn initialModel() Model {
    var model: Model = .{};
    model.append("Passport", true);
    model.append("Rain jacket", false);
    model.append("Phone charger", false);
    model.append("Sun hat", true);
    model.append("Phrase book", false);
    model.refresh();
    return model;
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const App = native_sdk.UiApp(Model, Msg);

pub fn main(init: std.process.Init) !void {
    const app_state = try App.create(std.heap.page_allocator, .{
        .name = "app",
        .scene = shell_scene,
        .canvas_label = canvas_label,
        .update = update,
        .markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io },
    });
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Packing",
        .bundle_id = "dev.native_sdk.app",
        .icon_path = "assets/icon.png",
        .default_frame = geometry.RectF.init(0, 0, window_size.width, window_size.height),
        .restore_state = false,
        .js_window_api = false,
        .security = .{
            .permissions = &app_permissions,
            .navigation = .{ .allowed_origins = &.{ "zero://inline", "zero://app" } },
        },
    }, init);
}

test {
    _ = @import("tests.zig");
}
