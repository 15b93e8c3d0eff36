// Places the boxes of a diagram in columns, and routes the lines between them around other boxes.
//
// The method is Sugiyama's. Edges point from left to right, and each box gets a column. A line
// through a column gets an empty place there. The order in each column is chosen so that few lines
// cross. Boxes and empty places then move up or down toward their neighbors.

const boxGap = 26;
const lineHeight = 12;
const partGap = 60;

/// Lays out boxes `{ id, width, height }` and edges `{ from, to }` of box IDs. Each box gets `x`
/// and `y`, each edge `points`. Columns are `columnGap` apart, and the whole is about `aspect`
/// times as wide as high. Returns the size of the whole.
export function layOut(boxes, edges, { columnGap, aspect }) {
    const parts = components(boxes, edges).map((part) => layOutPart(part.boxes, part.edges, columnGap, aspect));
    return pack(parts, aspect);
}

function components(boxes, edges) {
    const parent = new Map(boxes.map((box) => [box.id, box.id]));
    const root = (id) => {
        while (parent.get(id) !== id) id = parent.get(id);
        return id;
    };
    for (const edge of edges) parent.set(root(edge.from), root(edge.to));
    const parts = new Map();
    for (const box of boxes) {
        const id = root(box.id);
        if (!parts.has(id)) parts.set(id, { boxes: [], edges: [] });
        parts.get(id).boxes.push(box);
    }
    for (const edge of edges) parts.get(root(edge.from)).edges.push(edge);
    return [...parts.values()].sort((a, b) => b.boxes.length - a.boxes.length);
}

/// Places unconnected parts beside each other, in rows.
function pack(parts, aspect) {
    const area = parts.reduce((sum, part) => sum + (part.width + partGap) * (part.height + partGap), 0);
    const limit = Math.max(Math.sqrt(area * aspect), ...parts.map((part) => part.width));
    let [x, y, rowHeight, width] = [0, 0, 0, 0];
    for (const part of parts) {
        if (x > 0 && x + part.width > limit) [x, y, rowHeight] = [0, y + rowHeight + partGap, 0];
        part.move(x, y);
        x += part.width + partGap;
        width = Math.max(width, x - partGap);
        rowHeight = Math.max(rowHeight, part.height);
    }
    return { width, height: y + rowHeight };
}

function layOutPart(boxes, edges, columnGap, aspect) {
    const nodes = new Map(boxes.map((box) => [box.id, { box, width: box.width, height: box.height, before: [], after: [] }]));
    const lines = edges.filter((edge) => edge.from !== edge.to).map((edge) => ({ edge, from: nodes.get(edge.from), to: nodes.get(edge.to) }));
    orient([...nodes.values()], lines);
    for (const line of lines) {
        line.from.after.push(line.to);
        line.to.before.push(line.from);
    }
    const columns = inColumns([...nodes.values()], columnGap, aspect);
    addPlaces(columns, lines);
    reorder(columns);
    const size = place(columns, columnGap);
    for (const node of nodes.values()) Object.assign(node.box, { x: node.x, y: node.y });
    drawLines(lines, edges.filter((edge) => edge.from === edge.to), nodes);
    return { ...size, move: (x, y) => {
        for (const node of nodes.values()) {
            node.box.x += x;
            node.box.y += y;
        }
        for (const edge of edges) edge.points = edge.points.map((point) => ({ x: point.x + x, y: point.y + y }));
    } };
}

/// Reverses edges that would close a cycle.
function orient(nodes, lines) {
    const outgoing = new Map(nodes.map((node) => [node, []]));
    for (const line of lines) outgoing.get(line.from).push(line);
    const state = new Map();
    const visit = (node) => {
        state.set(node, "open");
        for (const line of outgoing.get(node)) {
            if (state.get(line.to) === "open") line.isTurned = true;
            else if (!state.has(line.to)) visit(line.to);
        }
        state.set(node, "done");
    };
    const incoming = new Map(nodes.map((node) => [node, 0]));
    for (const line of lines) incoming.set(line.to, incoming.get(line.to) + 1);
    for (const node of [...nodes].sort((a, b) => incoming.get(a) - incoming.get(b))) if (!state.has(node)) visit(node);
    for (const line of lines) if (line.isTurned) [line.from, line.to] = [line.to, line.from];
}

/// Gives each node a column after those of its predecessors. No column becomes much higher than the
/// whole diagram should be.
function inColumns(nodes, columnGap, aspect) {
    const area = nodes.reduce((sum, node) => sum + (node.width + columnGap) * (node.height + boxGap), 0);
    const limit = Math.max(Math.sqrt(area / aspect) * 1.15, ...nodes.map((node) => node.height + boxGap));
    const waiting = new Map(nodes.map((node) => [node, node.before.length]));
    const heights = [];
    const columns = [];
    let ready = nodes.filter((node) => node.before.length === 0);
    while (ready.length) {
        // Nodes with the most successors come first.
        ready.sort((a, b) => b.after.length - a.after.length);
        const node = ready.shift();
        let column = Math.max(0, ...node.before.map((other) => other.column + 1));
        while ((heights[column] ?? 0) > 0 && heights[column] + node.height + boxGap > limit) column += 1;
        node.column = column;
        heights[column] = (heights[column] ?? 0) + node.height + boxGap;
        (columns[column] ??= []).push(node);
        for (const next of node.after) {
            waiting.set(next, waiting.get(next) - 1);
            if (waiting.get(next) === 0) ready.push(next);
        }
    }
    // Roots move next to their successors.
    for (const node of nodes) {
        if (node.before.length || !node.after.length) continue;
        const nearest = Math.min(...node.after.map((other) => other.column)) - 1;
        if (nearest > node.column && heights[nearest] + node.height + boxGap <= limit) {
            columns[node.column].splice(columns[node.column].indexOf(node), 1);
            heights[node.column] -= node.height + boxGap;
            heights[nearest] += node.height + boxGap;
            node.column = nearest;
            columns[nearest].push(node);
        }
    }
    const used = columns.filter((column) => column?.length);
    used.forEach((column, index) => { for (const node of column) node.column = index; });
    return used;
}

/// A line gets an empty place in each column that it crosses.
function addPlaces(columns, lines) {
    for (const node of columns.flat()) [node.left, node.right] = [[], []];
    for (const line of lines) {
        let last = line.from;
        line.places = [];
        for (let column = line.from.column + 1; column < line.to.column; column += 1) {
            const empty = { width: 0, height: lineHeight, left: [last], right: [], column };
            last.right.push(empty);
            columns[column].push(empty);
            line.places.push(empty);
            last = empty;
        }
        last.right.push(line.to);
        line.to.left.push(last);
    }
}

/// Orders each column by the average rank of each node's neighbors. Rounds alternate between the
/// left and the right neighbors. The order with the fewest crossings is kept.
function reorder(columns) {
    const number = () => { for (const column of columns) column.forEach((node, index) => { node.rank = index; }); };
    number();
    let best = columns.map((column) => [...column]);
    let fewest = crossings(columns);
    for (let round = 0; round < 24 && fewest > 0; round += 1) {
        const isForth = round % 2 === 0;
        for (const column of isForth ? columns.slice(1) : columns.slice(0, -1).reverse()) {
            for (const node of column) {
                const near = isForth ? node.left : node.right;
                node.weight = near.length ? near.reduce((sum, other) => sum + other.rank, 0) / near.length : node.rank;
            }
            column.sort((a, b) => a.weight - b.weight || a.rank - b.rank);
            column.forEach((node, index) => { node.rank = index; });
        }
        const now = crossings(columns);
        if (now < fewest) {
            fewest = now;
            best = columns.map((column) => [...column]);
        }
    }
    best.forEach((column, index) => columns[index].splice(0, column.length, ...column));
    number();
}

function crossings(columns) {
    let sum = 0;
    for (const column of columns) {
        const ends = column.flatMap((node) => node.right.map((other) => other.rank).sort((a, b) => a - b));
        for (let first = 0; first < ends.length; first += 1) {
            for (let second = first + 1; second < ends.length; second += 1) if (ends[first] > ends[second]) sum += 1;
        }
    }
    return sum;
}

/// Gives each node its coordinates: near its neighbors, without overlaps.
function place(columns, columnGap) {
    let x = 0;
    for (const column of columns) {
        const width = Math.max(...column.map((node) => node.width));
        let y = 0;
        for (const node of column) {
            node.x = x + (width - node.width) / 2;
            node.columnLeft = x;
            node.columnRight = x + width;
            node.y = y;
            y += node.height + boxGap;
        }
        x += width + columnGap;
    }
    const middle = (node) => node.y + node.height / 2;
    for (let round = 0; round < 30; round += 1) {
        const isForth = round % 2 === 0;
        for (const column of isForth ? columns : [...columns].reverse()) {
            align(column, column.map((node) => {
                const near = round > 20 ? [...node.left, ...node.right] : isForth ? node.left : node.right;
                return near.length ? near.reduce((sum, other) => sum + middle(other), 0) / near.length - node.height / 2 : node.y;
            }));
        }
    }
    const top = Math.min(...columns.flat().map((node) => node.y));
    for (const node of columns.flat()) node.y -= top;
    return { width: x - columnGap, height: Math.max(...columns.flat().map((node) => node.y + node.height)) };
}

/// Moves the nodes of a column as near as possible to their wanted positions, in their order and
/// without overlaps.
function align(column, wanted) {
    // A node that would overlap the node above is moved together with that node.
    const blocks = [];
    let offset = 0;
    column.forEach((node, index) => {
        blocks.push({ sum: wanted[index] - offset, count: 1, nodes: [{ node, offset }] });
        offset += node.height + (node.width && column[index + 1]?.width ? boxGap : boxGap / 2);
        while (blocks.length > 1 && blocks.at(-1).sum / blocks.at(-1).count < blocks.at(-2).sum / blocks.at(-2).count) {
            const last = blocks.pop();
            blocks.at(-1).sum += last.sum;
            blocks.at(-1).count += last.count;
            blocks.at(-1).nodes.push(...last.nodes);
        }
    });
    for (const block of blocks) for (const { node, offset } of block.nodes) node.y = block.sum / block.count + offset;
}

/// Gives each edge its points. Edges at the same side of a box are spread evenly over the side, in
/// the order of their other ends.
function drawLines(lines, loops, nodes) {
    const ports = new Map();
    const add = (node, side, line, next) => {
        const key = `${side} ${node.box.id}`;
        if (!ports.has(key)) ports.set(key, { node, side, list: [] });
        ports.get(key).list.push({ line, y: next.y + next.height / 2 });
    };
    for (const line of lines) {
        add(line.from, "right", line, line.places[0] ?? line.to);
        add(line.to, "left", line, line.places.at(-1) ?? line.from);
    }
    for (const { node, side, list } of ports.values()) {
        list.sort((a, b) => a.y - b.y);
        list.forEach(({ line }, index) => {
            const y = node.y + (node.height * (index + 1)) / (list.length + 1);
            line[side === "right" ? "start" : "end"] = { x: side === "right" ? node.x + node.width : node.x, y };
        });
    }
    for (const line of lines) {
        const points = [line.start];
        if (line.start.x < line.from.columnRight) points.push({ x: line.from.columnRight, y: line.start.y });
        for (const empty of line.places) {
            const y = empty.y + empty.height / 2;
            points.push({ x: empty.columnLeft, y }, { x: empty.columnRight, y });
        }
        if (line.end.x > line.to.columnLeft) points.push({ x: line.to.columnLeft, y: line.end.y });
        points.push(line.end);
        line.edge.points = line.isTurned ? points.reverse() : points;
    }
    const counts = new Map();
    for (const edge of loops) {
        const node = nodes.get(edge.from);
        const number = counts.get(node) ?? 0;
        counts.set(node, number + 1);
        const [right, top, reach] = [node.x + node.width, node.y + 8 + number * 14, 26 + number * 8];
        edge.points = [{ x: right, y: top }, { x: right + reach, y: top }, { x: right + reach, y: top + 18 }, { x: right, y: top + 18 }];
        edge.isLoop = true;
    }
}
