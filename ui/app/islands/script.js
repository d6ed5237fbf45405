// The script editor: CodeMirror with what a pipeline's script can name, and faults at their line.
//
// It stands in a shadow root, where its styles are constructed sheets: the page's security policy
// lets no style be put into the page. Colours are the studio's tokens, which reach into the root.
//
// Invariants: Tab leaves the editor; a key that the editor has used is not seen outside of it; what
// comes from outside is put in as text.
import { EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, WidgetType, gutter, keymap, lineNumbers } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, ensureSyntaxTree, indentUnit, syntaxHighlighting, syntaxTree } from "@codemirror/language";
import { javascriptLanguage, localCompletionSource } from "@codemirror/lang-javascript";
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { tags } from "@lezer/highlight";

// How long nothing must have been typed before the text is looked through, ms.
const LOOK_AFTER = 400;
// How long that may take, ms.
const LOOK_TIME = 50;
// Most faults that the editor finds by itself, and most entries of an object that are offered.
const FOUND_MAX = 20;
const FIELDS_MAX = 200;

const looks = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface-2)", fontSize: "var(--text-small)", border: "1px solid var(--line)", borderRadius: "var(--radius)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px", minHeight: "120px", maxHeight: "60vh", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "6px 0" },
  ".cm-gutters": { color: "var(--ink-muted)", backgroundColor: "var(--surface-1)", border: "0" },
  ".cm-fault-gutter": { minWidth: "2ch" },
  ".fault-mark": { color: "var(--priority-1)", fontWeight: "700", padding: "0 2px" },
  ".fault-line": { textDecoration: "underline wavy var(--priority-1)" },
  ".fault-message": { color: "var(--priority-1)", fontFamily: "var(--sans)", fontWeight: "600", padding: "0 6px 4px 6px", whiteSpace: "pre-wrap", overflowWrap: "anywhere" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--line)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", outline: "1px dashed var(--priority-1)" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--surface-1)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "220px" },
  ".cm-tooltip-autocomplete > ul > li": { minHeight: "var(--target)", lineHeight: "24px", padding: "0 6px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-focus)", backgroundColor: "var(--focus)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "1" },
  ".cm-completionInfo": { fontFamily: "var(--sans)", maxWidth: "320px" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], color: "var(--trend-1)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--trend-2)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--trend-3)" },
  { tag: tags.comment, color: "var(--ink-muted)", fontStyle: "italic" },
]);

// Faults: those that were told from outside, and those that the parser of the editor finds.
const tell = StateEffect.define();
const find = StateEffect.define();
const faults = StateField.define({
  create: () => ({ told: [], found: [] }),
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(tell)) value = { ...value, told: effect.value };
      if (effect.is(find)) value = { ...value, found: effect.value };
    }
    return value;
  },
});

// What is shown: the appliance's word counts before the editor's own.
const shown = (state) => {
  const { told, found } = state.field(faults);
  const all = told.length > 0 ? told : found;
  return all.filter(({ line }) => line >= 1 && line <= state.doc.lines).sort((a, b) => a.line - b.line);
};

class Mark extends GutterMarker {
  constructor(text) { super(); this.text = text; }
  eq(other) { return other.text === this.text; }
  toDOM() {
    const mark = document.createElement("span");
    mark.className = "fault-mark";
    mark.textContent = "!";
    mark.title = this.text;
    return mark;
  }
}

class Message extends WidgetType {
  constructor(text) { super(); this.text = text; }
  eq(other) { return other.text === this.text; }
  toDOM() {
    const message = document.createElement("div");
    message.className = "fault-message";
    message.textContent = this.text;
    return message;
  }
}

const underlined = Decoration.line({ class: "fault-line" });
const atLines = EditorView.decorations.compute([faults, "doc"], (state) => {
  const ranges = shown(state).flatMap(({ line, text }) => {
    const { from, to } = state.doc.line(line);
    return [underlined.range(from), Decoration.widget({ widget: new Message(text), block: true, side: 1 }).range(to)];
  });
  return Decoration.set(ranges, true);
});
const marks = gutter({
  class: "cm-fault-gutter",
  markers: (view) => {
    const ranges = shown(view.state).map(({ line, text }) => new Mark(text).range(view.state.doc.line(line).from));
    return RangeSet.of(ranges, true);
  },
});

// Where the parser meets something that it does not expect.
const look = (state, message) => {
  const tree = ensureSyntaxTree(state, state.doc.length, LOOK_TIME);
  const lines = new Map();
  tree?.iterate({
    enter(node) {
      if (node.type.isError && lines.size < FOUND_MAX) {
        const { number } = state.doc.lineAt(node.from);
        if (!lines.has(number)) lines.set(number, { line: number, text: message });
      }
    },
  });
  return [...lines.values()];
};

const PATH = /(?:^|[^\w$.])(\$trigger|\$item|\$run|\$variable|\$step\.[A-Za-z_]\w*|\$step\[\s*["'`][^"'`\]]+["'`]\s*\]|mill|state|console)((?:\??\.[A-Za-z_$][\w$]*|\[\d+\])*)\??\.([\w$]*)$/;
const NAMED = /\$(step|variable)(\.|\[\s*(["'`]))([\w-]*)$/;
const WORD = /(?:^|[^\w$.])([A-Za-z_$][\w$]*|)$/;
const IS_WORD = /^[A-Za-z_$][\w$]*$/;

const kindOf = (value) => {
  if (value === null) return "null";
  if (Array.isArray(value)) return `list of ${value.length}`;
  return typeof value === "object" ? "object" : JSON.stringify(value).slice(0, 30);
};

// The entries of what a sample holds at a path; undefined when there is no sample.
const fieldsOf = (sample, path) => {
  let value = sample;
  for (const [, name, place] of path.matchAll(/\.([A-Za-z_$][\w$]*)|\[(\d+)\]/g)) {
    if (value === null || typeof value !== "object") return undefined;
    value = Object.hasOwn(value, name ?? place) ? value[name ?? place] : undefined;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  const names = Object.keys(value).filter((name) => IS_WORD.test(name)).slice(0, FIELDS_MAX);
  return names.map((name) => ({ label: name, detail: kindOf(value[name]), type: "property" }));
};

const completer = (hints) => (context) => {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const named = NAMED.exec(before);
  if (named) {
    const [, root, opening, quote, typed] = named;
    const names = hints().names?.[`$${root}`] ?? [];
    const options = names.map(({ label, detail }) => {
      const isWord = IS_WORD.test(label);
      const apply = (view, _, from, to) => {
        const rest = view.state.sliceDoc(to, to + 2);
        const end = quote ? (rest.startsWith(quote) ? "" : `${quote}]`) : "";
        const start = quote || isWord ? from : from - 1;
        const insert = quote || isWord ? label + end : `["${label}"]`;
        view.dispatch({ changes: { from: start, to, insert }, selection: { anchor: start + insert.length }, userEvent: "input.complete" });
      };
      return { label, detail, apply, type: "variable" };
    });
    return { from: context.pos - typed.length, options, validFor: /^[\w-]*$/ };
  }
  const node = syntaxTree(context.state).resolveInner(context.pos, -1).name;
  if (/Comment|^String$|^TemplateString$|RegExp/.test(node)) return null;
  const path = PATH.exec(before);
  if (path) {
    const [, root, behind, typed] = path;
    const step = /^\$step(?:\.(\w+)|\[\s*["'`]([^"'`]+))/.exec(root);
    const sample = step ? hints().samples?.[`$step ${step[1] ?? step[2]}`] : hints().samples?.[root];
    const known = behind === "" ? hints().members?.[root] : undefined;
    const options = fieldsOf(sample, behind) ?? known;
    return options ? { from: context.pos - typed.length, options, validFor: /^[\w$]*$/ } : null;
  }
  const word = WORD.exec(before);
  if (!word || (word[1] === "" && !context.explicit)) return null;
  return { from: context.pos - word[1].length, options: hints().roots ?? [], validFor: /^[\w$]*$/ };
};

// Puts an editor into an element. `options` is JSON: label, text, isReadOnly, isScript, syntax.
export function mount(host, options, changed) {
  const { label, text, isReadOnly, isScript, syntax, atLine } = JSON.parse(options);
  const hadFocus = host.parentElement?.contains(document.activeElement) ?? false;
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const live = document.createElement("p");
  live.setAttribute("role", "status");
  Object.assign(live.style, { position: "absolute", width: "1px", height: "1px", margin: "0", overflow: "hidden", clipPath: "inset(50%)" });
  let hints = {};
  let timer;
  const say = (state) => {
    const words = shown(state).map(({ line, text }) => `${atLine.replace("{n}", line)}: ${text}`).join(" ");
    if (live.textContent !== words) live.textContent = words;
  };
  const lookLater = () => {
    if (!isScript) return;
    clearTimeout(timer);
    timer = setTimeout(() => view.dispatch({ effects: find.of(look(view.state, syntax)) }), LOOK_AFTER);
  };
  const heard = EditorView.updateListener.of((update) => {
    if (update.docChanged) {
      lookLater();
      if (!update.transactions.some((one) => one.isUserEvent("set"))) changed(update.state.doc.toString());
    }
    if (update.docChanged || update.startState.field(faults) !== update.state.field(faults)) say(update.state);
  });
  // A browser that replaces several lines by itself writes styles at their elements, which the page's
  // policy refuses: the editor does it instead.
  const replaced = EditorView.domEventHandlers({
    beforeinput(event, view) {
      const isOurs = event.inputType === "insertText" && event.data && !event.isComposing && !view.composing;
      if (!isOurs || view.state.readOnly || view.state.selection.main.empty) return false;
      event.preventDefault();
      view.dispatch(view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true }));
      return true;
    },
  });
  const script = [
    javascriptLanguage,
    autocompletion({ override: [completer(() => hints), localCompletionSource], icons: false }),
    bracketMatching(),
    syntaxHighlighting(colours),
  ];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        faults, atLines, marks, lineNumbers(), history(), replaced, indentUnit.of("  "), looks, heard,
        isScript ? script : [],
        keymap.of([...(isScript ? completionKeymap : []), ...historyKeymap, ...defaultKeymap]),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.compute([faults], (state) => ({
          "aria-label": label,
          tabindex: "0",
          "aria-readonly": String(isReadOnly),
          "aria-invalid": String(shown(state).length > 0),
        })),
      ],
    }),
  });
  // Undo, Escape from a list and the like are the editor's own, not the designer's.
  root.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) event.stopPropagation();
  });
  root.append(live);
  // Who wants to lead a person to this field focuses the host.
  host.focus = () => view.focus();
  lookLater();
  if (hadFocus) view.focus();
  return {
    setText(text) {
      if (view.state.doc.toString() === text) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, userEvent: "set" });
    },
    setFaults(json) {
      // The script engine's messages begin with the line, at which they stand here.
      const told = JSON.parse(json).map(({ line, text }) => ({ line, text: text.replace(/^line \d+(, column \d+)?: /, "") }));
      view.dispatch({ effects: tell.of(told) });
    },
    setHints(json) { hints = JSON.parse(json); },
    destroy() {
      clearTimeout(timer);
      delete host.focus;
      view.destroy();
      root.replaceChildren();
    },
  };
}
