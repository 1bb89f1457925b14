// What an action is about, in words: the one place that knows which fields its type has.

/** Splits a command's working folder from the project's root: what a person needs to see is where below it. */
export function place(action, project) {
  const { cwd } = action;
  const root = project?.root;
  if (!cwd || cwd === root) return { short: 'project folder', full: root ?? '' };
  if (root && cwd.startsWith(`${root}/`)) return { short: cwd.slice(root.length + 1), full: cwd };
  return { short: cwd, full: cwd };
}

const titles = {
  write_file: (p) => `write ${p.path ?? ''}`,
  git_commit: (p) => `commit: ${(p.message ?? '').split('\n')[0]}`,
  git_branch_create: (p) => `create branch ${p.name ?? ''}`,
  git_branch_protect: (p) => `protect branch ${p.branch ?? p.name ?? ''}`,
  git_push: (p) => `push ${p.branch ?? ''} to ${p.remote ?? 'origin'}`,
  git_merge: (p) => `merge ${p.pullRequestId ? `pull request ${p.pullRequestId}` : ''} into ${p.target_branch ?? p.targetBranch ?? '(no target named)'}`,
  git_repo_create: (p) => `create repository ${p.name ?? ''}`,
  pr_open: (p) => `open pull request: ${p.title ?? ''}`,
  container_start: (p) => `start container from ${p.imagem ?? p.image ?? 'its image'}`,
  container_stop: () => 'stop the container',
  container_remove: () => 'remove the container',
  instruction_patch: (p) => `change the instructions ${p.path ?? p.file ?? ''}`.trim(),
  spend: (p) => `spend ${p.amount ?? ''} ${p.currency ?? ''}`.trim(),
};

/** The action's parameters, wherever its type keeps them. */
export const parameters = (action) => ({ ...action.container, ...action.params });

/** One line that says what would be done; of a terminal action, its command. */
export function title(action) {
  if (action.type === 'terminal') return action.command ?? '';
  return titles[action.type]?.(parameters(action)) ?? action.type.replaceAll('_', ' ');
}

const shownElsewhere = new Set(['content', 'contentBase64', 'diff', 'patch', 'cwd', 'shortened']);

/** Name and value of the parameters that a card lists below its title. */
export function facts(action) {
  const known = title(action);
  return Object.entries(parameters(action))
    .filter(([name, value]) => !shownElsewhere.has(name) && value !== null && value !== undefined && value !== '')
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
    .filter(([, value]) => !known.includes(value));
}

/** Who proposed: the id of an agent or of a person. */
export const proposer = (action) => action.proposedBy?.id || action.proposedBy?.kind || 'not recorded';

/** Reports whether an action is decided and has no outcome yet. */
export const runs = (action) => action.status === 'approved' || action.status === 'auto_approved';

/** The text of an outcome: of a command its output, else its result or why there is none. */
export function outcomeText(action) {
  const { output, stdout, stderr, result } = action.outcome ?? {};
  if (output) return output;
  if (stdout || stderr) return [stdout, stderr].filter(Boolean).join('\n');
  return result ? JSON.stringify(result, null, 2) : '';
}
