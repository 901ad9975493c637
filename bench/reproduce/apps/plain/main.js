// A list of tasks, without a framework. `bug` chooses between a line with a seeded bug and the right one.
const bug = (name) => window.BUG === name;
const app = document.querySelector('#app');
const state = { tasks: [], filter: 'all', summary: null, selected: null, message: '', comments: [], dates: false };

async function call(method, path, body) {
  const response = await fetch(`/api/${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  const answer = response.headers.get('content-type')?.includes('json') ? await response.json() : {};
  if (!response.ok) state.message = answer.error ?? 'This is not possible.';
  return response.ok ? answer : null;
}

function create(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const createButton = (text, onclick, more) => create('button', { textContent: text, onclick, ...more });

function formatDue(due) {
  if (bug('due-format')) return due.split('T')[1].slice(0, 5);
  return due.split('T')[1]?.slice(0, 5) ?? 'all day';
}

function countTasks() {
  const { length } = state.tasks;
  return bug('plural') ? `${length} tasks` : `${length} ${length === 1 ? 'task' : 'tasks'}`;
}

async function loadTasks(filter) {
  state.filter = filter;
  const tasks = await call('GET', filter === 'all' ? 'tasks' : `tasks?state=${filter}`);
  if (filter !== state.filter && !bug('late-filter')) return;
  if (tasks) state.tasks = tasks.items;
  if (filter !== state.filter) console.error('The list shows the tasks of another filter');
  render();
}

async function loadSummary() {
  state.summary = await call('GET', 'summary');
  render();
}

async function toggle(task) {
  const changed = await call('PATCH', `tasks/${task.id}`, { done: !task.done });
  if (!changed) return render();
  task.done = !task.done;
  if (!bug('stale-summary')) state.summary.done += task.done ? 1 : -1;
  const done = state.tasks.filter((each) => each.done).length;
  if (done !== state.summary.done) console.error(`${done} tasks are done, but the summary says ${state.summary.done}`);
  render();
}

function select(task) {
  state.selected = task.id;
  const owner = bug('owner-null') ? task.owner.name : (task.owner?.name ?? 'nobody');
  state.message = `Belongs to ${owner}`;
  render();
}

async function remove(task) {
  await call('DELETE', `tasks/${task.id}`);
  state.tasks = state.tasks.filter((each) => each !== task);
  if (state.selected === task.id && !bug('stale-selection')) state.selected = null;
  render();
}

function rename() {
  const found = state.tasks.find((each) => each.id === state.selected);
  if (state.selected === null) return;
  found.title = `${found.title} (renamed)`;
  render();
}

async function showComments(task) {
  const found = await call('GET', `tasks/${bug('undefined-id') ? task.ID : task.id}/comments`);
  state.comments = found?.items ?? [];
  render();
}

let isAdding = false;
async function add(event) {
  event.preventDefault();
  if (isAdding && !bug('double-add')) return;
  isAdding = true;
  const { title, estimate } = Object.fromEntries(new FormData(event.target));
  const added = await call('POST', 'tasks', { title, estimate: bug('estimate-type') ? estimate : Number(estimate) });
  isAdding = false;
  if (added) state.tasks.push(added);
  render();
}

const form = create('form', { onsubmit: add },
  create('label', {}, 'Title ', create('input', { name: 'title', value: 'New task' })),
  create('label', {}, 'Estimate ', create('input', { name: 'estimate', type: 'number', value: '2' })),
  create('button', { textContent: 'Add task' }));
const list = create('main', {});
app.append(create('h1', { textContent: 'Tasks' }), form, list);

function render() {
  const items = state.tasks.map((task) => create('li', { style: bug('overflow') ? 'white-space: nowrap' : '' },
    createButton(task.title, () => select(task)),
    ` ${task.done ? 'done' : 'open'} ${state.dates ? formatDue(task.due) : ''} `,
    createButton(`Finish ${task.title}`, () => toggle(task)),
    createButton(`Comments of ${task.title}`, () => showComments(task)),
    createButton(`Delete ${task.title}`, () => remove(task))));
  list.replaceChildren(
    ...['all', 'open', 'done'].map((each) => createButton(`Show ${each}`, () => loadTasks(each))),
    createButton('Show dates', () => { state.dates = true; render(); }),
    createButton('Rename selected', rename),
    create('p', { textContent: `${countTasks()}, ${state.summary?.done ?? 0} done` }),
    create('ul', {}, ...items),
    create('p', { role: 'status', textContent: state.message }),
    ...state.comments.map(({ text }) => create('p', { textContent: text })));
}

await loadTasks('all');
await loadSummary();
