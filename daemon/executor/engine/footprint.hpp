#pragma once

#include <cstddef>
#include <span>

#include "daemon/model/step.hpp"

// Which steps touch the objects of which others, from their types and paths alone. Pure.

namespace kubexm::executor {

bool is_one_object(const model::Step& a, const model::Step& b);

/// Whether applying a step changes nothing: its pre-image is for undo alone.
bool only_records(const model::Step& step);

/// Whether two steps of a plan may be journaled with one commit: no check, capture or apply of one
/// reads an object that the other changes, so they may be prepared together, and a crash between
/// them leaves no object that their pre-images do not describe.
bool may_share_commit(const model::Step& a, const model::Step& b);

/// The same for the undo of two steps: each can be repeated after the other.
bool may_share_undo_commit(const model::Step& a, const model::Step& b);

/// Whether a step may be undone while systemd reloads after the undo of a unit file, which a crash
/// would repeat: it neither touches that file nor waits for systemd, which answers nothing
/// meanwhile. A claim waits only where there are mounts.
bool may_undo_during_reload(const model::Step& unit_file, const model::Step& step);

/// The number of steps at the beginning of a list that may be journaled with one commit.
std::size_t first_group(std::span<const model::Step* const> steps);

/// Whether a step is about a path below a claim, whose undo removes new entries there.
bool is_claimed(const model::Step& step, const model::Step& claim);

/// Whether the undo of `older` has to wait for the undo of `failed`, which comes before it.
bool depends(const model::Step& older, const model::Step& failed);

}  // namespace kubexm::executor
