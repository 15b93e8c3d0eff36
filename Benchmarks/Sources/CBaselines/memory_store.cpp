#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "folded_text.h"
#include "stores.h"

namespace {

struct MemoryTrack {
    int64_t id, play_count, album;
    double duration, date;
    uint8_t uuid[16];
    bool loved;
    std::string title;
    std::optional<std::string> artist, thumb;
};

struct MemoryAlbum {
    int64_t id, year;
    std::string title;
};

struct MemoryStore {
    std::unordered_map<int64_t, MemoryTrack> tracks;
    std::unordered_map<int64_t, MemoryAlbum> albums;
    std::vector<std::vector<int64_t>> tracks_by_album;
};

/// The store to read, and the store that was written last.
std::unique_ptr<MemoryStore> source, made;

std::optional<std::string> optional_bytes(const void *bytes, int16_t length) {
    if (length < 0) return std::nullopt;
    return std::string(static_cast<const char *>(bytes), static_cast<size_t>(length));
}

int16_t copy_bytes(const std::optional<std::string> &value, void *out) {
    if (!value) return TRACK_NULL;
    std::memcpy(out, value->data(), value->size());
    return static_cast<int16_t>(value->size());
}

MemoryTrack stored(const track &value) {
    MemoryTrack result;
    result.id = value.id;
    result.play_count = value.play_count;
    result.album = value.album;
    result.duration = value.duration;
    result.date = value.date;
    std::memcpy(result.uuid, value.uuid, sizeof result.uuid);
    result.loved = value.loved != 0;
    result.title.assign(value.title, static_cast<size_t>(value.title_length));
    result.artist = optional_bytes(value.artist, value.artist_length);
    result.thumb = optional_bytes(value.thumb, value.thumb_length);
    return result;
}

void load(const MemoryTrack &value, track *out) {
    out->id = value.id;
    out->play_count = value.play_count;
    out->album = value.album;
    out->duration = value.duration;
    out->date = value.date;
    std::memcpy(out->uuid, value.uuid, sizeof out->uuid);
    out->loved = value.loved;
    std::memcpy(out->title, value.title.data(), value.title.size());
    out->title_length = static_cast<int16_t>(value.title.size());
    out->artist_length = copy_bytes(value.artist, out->artist);
    out->thumb_length = copy_bytes(value.thumb, out->thumb);
}

void load(const MemoryAlbum &value, album *out) {
    out->id = value.id;
    out->year = value.year;
    std::memcpy(out->title, value.title.data(), value.title.size());
    out->title_length = static_cast<int16_t>(value.title.size());
}

// MARK: A whole store

int write_album(void *state, const album *value) {
    auto *store = static_cast<MemoryStore *>(state);
    std::string title(value->title, static_cast<size_t>(value->title_length));
    store->albums.emplace(value->id, MemoryAlbum{value->id, value->year, std::move(title)});
    return 0;
}

int write_track(void *state, const track *value) {
    static_cast<MemoryStore *>(state)->tracks.emplace(value->id, stored(*value));
    return 0;
}

int begin(baseline_run *run, const char *, write_options, object_sink *out) {
    auto *store = new MemoryStore;
    store->tracks.reserve(static_cast<size_t>(run->track_count));
    store->albums.reserve(static_cast<size_t>(tracks_album_count(run->track_count)));
    *out = object_sink{store, write_album, write_track};
    return 0;
}

int finish(baseline_run *run, object_sink *sink) {
    made.reset(static_cast<MemoryStore *>(sink->state));
    sink->state = nullptr;
    made->tracks_by_album.resize(static_cast<size_t>(tracks_album_count(run->track_count)) + 1);
    for (const auto &entry : made->tracks) {
        made->tracks_by_album[static_cast<size_t>(entry.second.album)].push_back(entry.first);
    }
    return 0;
}

void abandon(object_sink *sink) {
    delete static_cast<MemoryStore *>(sink->state);
    sink->state = nullptr;
}

int send_tracks(const object_sink *sink) {
    track value;
    for (const auto &entry : source->tracks) {
        load(entry.second, &value);
        TRY(sink->take_track(sink->state, &value));
    }
    return 0;
}

/// Returns the keys of an unordered map in ascending order, the order in which stores are written.
template <typename Map> std::vector<int64_t> sorted_keys(const Map &map) {
    std::vector<int64_t> keys;
    keys.reserve(map.size());
    for (const auto &entry : map) keys.push_back(entry.first);
    std::sort(keys.begin(), keys.end());
    return keys;
}

int send_all(const MemoryStore &store, const object_sink *sink) {
    for (int64_t key : sorted_keys(store.albums)) {
        album value;
        load(store.albums.at(key), &value);
        TRY(sink->take_album(sink->state, &value));
    }
    for (int64_t key : sorted_keys(store.tracks)) {
        track value;
        load(store.tracks.at(key), &value);
        TRY(sink->take_track(sink->state, &value));
    }
    return 0;
}

int read_all(baseline_run *run, const char *, const object_sink *sink) {
    return source ? send_all(*source, sink) : baseline_fail(run, "there is no store in memory to read");
}

/// Adds up the checksums of the store that was written last. Operations that change `source` write no other store.
int read_made(baseline_run *run) {
    object_sink sink = checksum_sink(run);
    const MemoryStore *store = made ? made.get() : source.get();
    return store ? send_all(*store, &sink) : baseline_fail(run, "no store was made in memory");
}

// MARK: Operations

void close_library(baseline_run *) { source.reset(); }

void count_track(baseline_run *run, const MemoryTrack &stored_value) {
    track value;
    load(stored_value, &value);
    run->checksum += track_checksum(&value);
    run->unit_count += 1;
}

int scan(baseline_run *run) {
    object_sink sink = checksum_sink(run);
    return send_tracks(&sink);
}

int point_read(baseline_run *run) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t id = tracks_random_key(static_cast<uint64_t>(index), run->track_count);
        auto found = source->tracks.find(id);
        if (found == source->tracks.end()) return baseline_fail(run, "a track is missing");
        count_track(run, found->second);
    }
    return 0;
}

int index_lookup(baseline_run *run) {
    int64_t album_count = tracks_album_count(run->track_count);
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t album_id = tracks_random_key(static_cast<uint64_t>(index), album_count);
        for (int64_t id : source->tracks_by_album[static_cast<size_t>(album_id)]) {
            count_track(run, source->tracks.at(id));
        }
    }
    return 0;
}

int filter_scan(baseline_run *run) {
    for (const auto &entry : source->tracks) {
        const MemoryTrack &value = entry.second;
        if (value.play_count > 1000 && value.title.compare(0, 3, "Mid") == 0) count_track(run, value);
    }
    run->unit_count = source->tracks.size();
    return 0;
}

int one_field_filter(baseline_run *run) {
    for (const auto &entry : source->tracks) run->checksum += entry.second.play_count > 1000;
    run->unit_count = source->tracks.size();
    return 0;
}

int count_loved(baseline_run *run) {
    for (const auto &entry : source->tracks) run->checksum += entry.second.loved;
    run->unit_count = source->tracks.size();
    return 0;
}

int contains_folded_text(baseline_run *run) {
    for (const auto &entry : source->tracks) {
        const std::string &title = entry.second.title;
        run->checksum += static_cast<uint64_t>(contains_folded(title.data(), title.size(), "naive", 5));
    }
    run->unit_count = source->tracks.size();
    return 0;
}

int sum(baseline_run *run) {
    for (const auto &entry : source->tracks) run->checksum += static_cast<uint64_t>(entry.second.play_count);
    run->unit_count = source->tracks.size();
    return 0;
}

int to_one_path(baseline_run *run) {
    for (const auto &entry : source->tracks) run->checksum += source->albums.at(entry.second.album).year >= 2020;
    run->unit_count = source->tracks.size();
    return 0;
}

int any_to_many(baseline_run *run) {
    std::vector<bool> noted(source->tracks_by_album.size());
    for (const auto &entry : source->tracks) {
        if (entry.second.play_count > 4800) noted[static_cast<size_t>(entry.second.album)] = true;
    }
    run->checksum = static_cast<uint64_t>(std::count(noted.begin(), noted.end(), true));
    run->unit_count = source->tracks.size();
    return 0;
}

int subquery(baseline_run *run) {
    std::vector<uint16_t> noted(source->tracks_by_album.size());
    for (const auto &entry : source->tracks) noted[static_cast<size_t>(entry.second.album)] += entry.second.loved;
    run->checksum = static_cast<uint64_t>(
        std::count_if(noted.begin(), noted.end(), [](uint16_t count) { return count >= 4; }));
    run->unit_count = source->tracks.size();
    return 0;
}

int sort_with_limit(baseline_run *run) {
    std::vector<const MemoryTrack *> tracks;
    tracks.reserve(source->tracks.size());
    for (const auto &entry : source->tracks) tracks.push_back(&entry.second);
    auto limit = tracks.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(100, tracks.size()));
    std::partial_sort(tracks.begin(), limit, tracks.end(), [](const MemoryTrack *left, const MemoryTrack *right) {
        int order = left->title.compare(right->title);
        return order != 0 ? order < 0 : left->id < right->id;
    });
    for (auto place = tracks.begin(); place != limit; ++place) count_track(run, **place);
    run->unit_count = source->tracks.size();
    return 0;
}

int links_to_many(baseline_run *run) {
    int64_t album_count = tracks_album_count(run->track_count);
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t album_id = tracks_random_key(static_cast<uint64_t>(index), album_count);
        for (int64_t id : source->tracks_by_album[static_cast<size_t>(album_id)]) {
            run->checksum += static_cast<uint64_t>(id);
            run->unit_count += 1;
        }
    }
    return 0;
}

int links_to_one(baseline_run *run) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t id = tracks_random_key(static_cast<uint64_t>(index), run->track_count);
        album value;
        load(source->albums.at(source->tracks.at(id).album), &value);
        run->checksum += album_checksum(&value);
        run->unit_count += 1;
    }
    return 0;
}

int update(baseline_run *run) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t id = tracks_distinct_key(static_cast<uint64_t>(index), run->track_count);
        MemoryTrack &value = source->tracks.at(id);
        value.play_count = track_updated_play_count(value.play_count);
        value.date = track_updated_date(static_cast<uint64_t>(index));
    }
    run->unit_count = static_cast<uint64_t>(run->repetitions);
    return 0;
}

int delete_tracks(baseline_run *run) {
    for (int64_t index = 0; index < run->repetitions; index++) {
        int64_t id = tracks_distinct_key(static_cast<uint64_t>(index), run->track_count);
        auto found = source->tracks.find(id);
        if (found == source->tracks.end()) return baseline_fail(run, "a track is missing");
        auto &siblings = source->tracks_by_album[static_cast<size_t>(found->second.album)];
        siblings.erase(std::find(siblings.begin(), siblings.end(), id));
        source->tracks.erase(found);
    }
    run->unit_count = static_cast<uint64_t>(run->repetitions);
    return 0;
}

}  // namespace

int memory_open_library(baseline_run *run) {
    object_sink sink;
    run->state = nullptr;
    TRY(begin(run, "", write_options(), &sink));
    if (make_all(run, &sink) != 0) {
        abandon(&sink);
        return -1;
    }
    TRY(finish(run, &sink));
    source = std::move(made);
    return 0;
}

void memory_discard(void) { made.reset(); }

const store_kind memory_kind = {read_all, begin, finish, abandon};

const baseline memory_baselines[] = {
    {"memory-scan", memory_open_library, scan, close_library, nullptr},
    {"memory-point-read", memory_open_library, point_read, close_library, nullptr},
    {"memory-index-lookup", memory_open_library, index_lookup, close_library, nullptr},
    {"memory-filter-scan", memory_open_library, filter_scan, close_library, nullptr},
    {"memory-one-field-filter", memory_open_library, one_field_filter, close_library, nullptr},
    {"memory-sort-limit", memory_open_library, sort_with_limit, close_library, nullptr},
    {"memory-count", memory_open_library, count_loved, close_library, nullptr},
    {"memory-contains-folded", memory_open_library, contains_folded_text, close_library, nullptr},
    {"memory-sum", memory_open_library, sum, close_library, nullptr},
    {"memory-to-one-path", memory_open_library, to_one_path, close_library, nullptr},
    {"memory-any-to-many", memory_open_library, any_to_many, close_library, nullptr},
    {"memory-subquery", memory_open_library, subquery, close_library, nullptr},
    {"memory-links-to-many", memory_open_library, links_to_many, close_library, nullptr},
    {"memory-links-to-one", memory_open_library, links_to_one, close_library, nullptr},
    {"memory-update", memory_open_library, update, close_library, nullptr},
    {"memory-delete", memory_open_library, delete_tracks, close_library, nullptr},
    {"memory-read", nullptr, read_made, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
