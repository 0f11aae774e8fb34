//! A folder tree beside what is selected in it. The model knows which folders are
//! open, what is selected, and where the panes are divided.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(820, 520);
/// The smallest window; tests.zig shows that everything fits in it.
pub const window_min_size = geometry.SizeF.init(560, 340);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Files canvas", .accessibility_label = "Files", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Files",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

const Entry = struct {
    name: []const u8,
    /// The index of the folder that it is in.
    parent: ?u32 = null,
    kind: union(enum) { folder, file: u32 },
};

/// What there is to browse. An entry's id is its place here.
const entries = [_]Entry{
    .{ .name = "docs", .kind = .folder },
    .{ .name = "guide.md", .parent = 0, .kind = .{ .file = 5210 } },
    .{ .name = "questions.md", .parent = 0, .kind = .{ .file = 1804 } },
    .{ .name = "src", .kind = .folder },
    .{ .name = "main.zig", .parent = 3, .kind = .{ .file = 960 } },
    .{ .name = "parser.zig", .parent = 3, .kind = .{ .file = 7345 } },
    .{ .name = "README.md", .kind = .{ .file = 2140 } },
    .{ .name = "LICENSE", .kind = .{ .file = 1072 } },
};

const docs = 0;
const readme = 6;

/// Folders and files as rows of the tree.
pub const FolderRow = struct { id: u32, name: []const u8, expanded: bool, selected: bool, icon: []const u8, turn: []const u8 };
pub const FileRow = struct { id: u32, name: []const u8, in_folder: bool, folder: u32, selected: bool };

pub const Msg = union(enum) {
    select: u32,
    toggle_folder: u32,
    panes_resized: f32,
};

pub const Model = struct {
    selected: u32 = readme,
    open: std.StaticBitSet(entries.len) = initialOpen(),
    /// The share of the width that the tree has.
    tree_share: f32 = 0.36,

    pub const view_unbound = .{ "selected", "open" };

    pub fn folders(model: *const Model, arena: std.mem.Allocator) []const FolderRow {
        var out: std.ArrayList(FolderRow) = .empty;
        for (entries, 0..) |entry, id| {
            if (entry.kind != .folder) continue;
            const expanded = model.open.isSet(id);
            out.append(arena, .{
                .id = @intCast(id),
                .name = entry.name,
                .expanded = expanded,
                .selected = model.selected == id,
                .icon = if (expanded) "chevron-down" else "chevron-right",
                .turn = std.fmt.allocPrint(arena, "{s} {s}", .{ if (expanded) "Close" else "Open", entry.name }) catch "",
            }) catch return &.{};
        }
        return out.items;
    }

    pub fn files(model: *const Model, arena: std.mem.Allocator) []const FileRow {
        var out: std.ArrayList(FileRow) = .empty;
        for (entries, 0..) |entry, id| {
            if (entry.kind == .folder) continue;
            out.append(arena, .{
                .id = @intCast(id),
                .name = entry.name,
                .in_folder = entry.parent != null,
                .folder = entry.parent orelse 0,
                .selected = model.selected == id,
            }) catch return &.{};
        }
        return out.items;
    }

    pub fn selectedName(model: *const Model) []const u8 {
        return entries[model.selected].name;
    }

    /// From the top of the tree: "docs/guide.md".
    pub fn selectedPath(model: *const Model, arena: std.mem.Allocator) []const u8 {
        const entry = entries[model.selected];
        const parent = entry.parent orelse return entry.name;
        return std.fmt.allocPrint(arena, "{s}/{s}", .{ entries[parent].name, entry.name }) catch "";
    }

    pub fn selectedFacts(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return switch (entries[model.selected].kind) {
            .file => |bytes| std.fmt.allocPrint(arena, "File, {d} bytes", .{bytes}) catch "",
            .folder => blk: {
                var count: usize = 0;
                for (entries) |entry| count += @intFromBool(entry.parent == model.selected);
                break :blk std.fmt.allocPrint(arena, "Folder, {d} files", .{count}) catch "";
            },
        };
    }
};

fn initialOpen() std.StaticBitSet(entries.len) {
    var open: std.StaticBitSet(entries.len) = .initEmpty();
    open.set(docs);
    return open;
}

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .select => |id| {
            if (id < entries.len) model.selected = id;
        },
        .toggle_folder => |id| {
            if (id >= entries.len or entries[id].kind != .folder) return;
            model.open.toggle(id);
            // What is selected can be seen in the tree: a file that goes out of
            // sight hands the selection to its folder.
            if (!model.open.isSet(id) and entries[model.selected].parent == id) model.selected = id;
        },
        // The runtime has applied and bounded it already.
        .panes_resized => |share| model.tree_share = share,
    }
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const App = native_sdk.UiApp(Model, Msg);

/// The same options for the real app and for the tests that run it headless.
pub fn appOptions() App.Options {
    return .{
        .name = "app",
        .scene = shell_scene,
        .canvas_label = canvas_label,
        .update = update,
        .markup = .{ .source = app_markup },
    };
}

pub fn main(init: std.process.Init) !void {
    var options = appOptions();
    options.markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io };

    const app_state = try App.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Files",
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
