#include <fcntl.h>
#include <simdjson.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "json_text.h"
#include "stores.h"

namespace {

// MARK: Writing everything

/// The size of the pieces in which text is written to the file.
const size_t piece_bytes = 1 << 18;

struct JSONWriter {
    baseline_run *run;
    int file = -1;
    std::string text;
    bool has_albums = false, has_tracks = false;
};

int flush_text(JSONWriter &writer) {
    size_t done = 0;
    while (done < writer.text.size()) {
        ssize_t count = write(writer.file, writer.text.data() + done, writer.text.size() - done);
        if (count < 0) return baseline_fail(writer.run, "write: %s", std::strerror(errno));
        done += static_cast<size_t>(count);
    }
    writer.text.clear();
    return 0;
}

int write_album(void *state, const album *value) {
    auto &writer = *static_cast<JSONWriter *>(state);
    writer.text.append(writer.has_albums ? ",\n" : "{\"records\": {\n\"Album\": [\n");
    writer.has_albums = true;
    append_json(*value, writer.text);
    return writer.text.size() < piece_bytes ? 0 : flush_text(writer);
}

int write_track(void *state, const track *value) {
    auto &writer = *static_cast<JSONWriter *>(state);
    writer.text.append(writer.has_tracks ? ",\n" : "\n],\n\"Track\": [\n");
    writer.has_tracks = true;
    append_json(*value, writer.text);
    return writer.text.size() < piece_bytes ? 0 : flush_text(writer);
}

void abandon(object_sink *sink) {
    auto *writer = static_cast<JSONWriter *>(sink->state);
    if (writer != nullptr && writer->file >= 0) close(writer->file);
    delete writer;
    sink->state = nullptr;
}

int begin(baseline_run *run, const char *path, write_options, object_sink *out) {
    auto *writer = new JSONWriter;
    writer->run = run;
    *out = object_sink{writer, write_album, write_track};
    writer->file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (writer->file >= 0) return 0;
    abandon(out);
    return baseline_fail(run, "create '%s': %s", path, std::strerror(errno));
}

int finish(baseline_run *run, object_sink *sink) {
    auto &writer = *static_cast<JSONWriter *>(sink->state);
    writer.text.append("\n]}}\n");
    int result = flush_text(writer);
    if (result == 0 && fsync(writer.file) != 0) result = baseline_fail(run, "flush: %s", std::strerror(errno));
    abandon(sink);
    return result;
}

// MARK: Reading everything

using namespace simdjson;

int16_t copy_text(std::string_view text, char *out, size_t limit) {
    size_t count = text.size() < limit ? text.size() : limit;
    std::memcpy(out, text.data(), count);
    return static_cast<int16_t>(count);
}

void read_album(ondemand::object object, album *out) {
    for (auto field : object) {
        std::string_view name = field.unescaped_key();
        if (name == "id") out->id = field.value().get_int64();
        if (name == "year") out->year = field.value().get_int64();
        if (name == "title") out->title_length = copy_text(field.value().get_string(), out->title, sizeof out->title);
    }
}

/// Returns false if a value is invalid.
bool read_track(ondemand::object object, track *out) {
    bool is_sound = true;
    out->artist_length = out->thumb_length = TRACK_NULL;
    for (auto field : object) {
        std::string_view name = field.unescaped_key();
        auto value = field.value();
        if (name == "id") {
            out->id = value.get_int64();
        } else if (name == "album") {
            out->album = value.get_int64();
        } else if (name == "artist") {
            out->artist_length = copy_text(value.get_string(), out->artist, sizeof out->artist);
        } else if (name == "date") {
            out->date = value.get_double();
        } else if (name == "duration") {
            out->duration = value.get_double();
        } else if (name == "loved") {
            out->loved = value.get_bool();
        } else if (name == "playCount") {
            out->play_count = value.get_int64();
        } else if (name == "thumb") {
            int count = decode_base64(value.get_string(), out->thumb, sizeof out->thumb);
            is_sound = is_sound && count >= 0;
            out->thumb_length = static_cast<int16_t>(count);
        } else if (name == "title") {
            out->title_length = copy_text(value.get_string(), out->title, sizeof out->title);
        } else if (name == "uuid") {
            is_sound = decode_uuid(value.get_string(), out->uuid) && is_sound;
        }
    }
    return is_sound;
}

int read_document(baseline_run *run, const char *path, const object_sink *sink) {
    padded_string text = padded_string::load(path);
    ondemand::parser parser;
    auto document = parser.iterate(text);
    auto records = document.find_field("records");
    album read_one;
    for (ondemand::object object : records.find_field("Album")) {
        read_album(object, &read_one);
        TRY(sink->take_album(sink->state, &read_one));
    }
    track value;
    for (ondemand::object object : records.find_field("Track")) {
        if (!read_track(object, &value)) return baseline_fail(run, "a track's data are damaged");
        TRY(sink->take_track(sink->state, &value));
    }
    return 0;
}

int read_all(baseline_run *run, const char *path, const object_sink *sink) {
    try {
        return read_document(run, path, sink);
    } catch (const simdjson_error &error) {
        return baseline_fail(run, "simdjson: %s", error.what());
    }
}

// MARK: Small saves

/// A journal beside the document, with one saved object per line.
struct JSONJournal {
    int file = -1;
    int64_t next_id = 0;
};

int open_journal(baseline_run *run) {
    auto *journal = new JSONJournal;
    run->state = journal;
    journal->next_id = run->track_count + 1;
    std::string path = std::string(run->path) + "-journal";
    journal->file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    return journal->file >= 0 ? 0 : baseline_fail(run, "create '%s': %s", path.c_str(), std::strerror(errno));
}

void close_journal(baseline_run *run) {
    auto *journal = static_cast<JSONJournal *>(run->state);
    if (journal != nullptr && journal->file >= 0) close(journal->file);
    delete journal;
    run->state = nullptr;
}

/// Saves `batch_size` new tracks durably in each repetition, by appending to the journal.
int save(baseline_run *run) {
    auto &journal = *static_cast<JSONJournal *>(run->state);
    int64_t album_count = tracks_album_count(run->track_count);
    std::string text;
    for (int64_t index = 0; index < run->repetitions; index++) {
        text.clear();
        for (int64_t place = 0; place < run->batch_size; place++) {
            track value;
            track_make(journal.next_id++, album_count, &value);
            run->checksum += track_checksum(&value);
            append_json(value, text);
            text.push_back('\n');
        }
        if (write(journal.file, text.data(), text.size()) != static_cast<ssize_t>(text.size())
            || fdatasync(journal.file) != 0) {
            return baseline_fail(run, "save: %s", std::strerror(errno));
        }
    }
    run->unit_count = static_cast<uint64_t>(run->repetitions);
    return 0;
}

}  // namespace

const store_kind json_kind = {read_all, begin, finish, abandon};

const baseline json_baselines[] = {
    {"json-transactions", open_journal, save, close_journal, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
