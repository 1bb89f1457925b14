// The words about a decision. Card and log line say the same of the same decision, because both ask here.

const verdicts = { auto_approve: 'Allowed by the rules', require_approval: 'Asks a person', deny: 'Refused by the rules' };

/**
 * The sentence of reason and scope, of an action or of the payload of its `proposed_action.created` alike. What an old
 * record lacks is said to be missing rather than left out.
 */
export function sentence({ resolvedPolicy, reason, rule, scopeRoot, environment, type, actionType }) {
  const verdict = verdicts[resolvedPolicy] ?? 'Verdict not recorded';
  const why = reason ? full(reason) : 'the reason was not recorded.';
  const by = rule ? ` Rule: ${rule}.` : '';
  if ((type ?? actionType) !== 'terminal') return `${verdict}: ${why}${by}`;
  const inside = environment === 'container' ? " Runs inside of the project's container alone." : '';
  return `${verdict}: ${why}${by} Scope: ${scopeRoot ? scopeRoot : 'not recorded'}.${inside}`;
}

const full = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Who decided an action: a person or the rules; nothing while it waits. */
export function decider({ status, decidedBy }) {
  if (status === 'pending') return '';
  return decidedBy ? `by ${decidedBy}` : 'by the rules';
}

/** Who decided an action, and how. */
export const decision = (action) => (action.status === 'pending' ? 'waiting' : `${action.status === 'denied' ? 'denied' : 'approved'} ${decider(action)}`);

/** How an action stands, in one word and the class that colours it. */
export function standing({ status, outcome, heldAtMachine, dueAt }) {
  switch (status) {
    case 'executed':
      return ['done', 'good'];
    case 'failed':
      if (outcome?.timedOut) return ['timed out', 'bad'];
      return [typeof outcome?.exitCode === 'number' ? `exit ${outcome.exitCode}` : 'failed', 'bad'];
    case 'denied':
      return ['denied', 'bad'];
    case 'pending':
      return ['waiting', 'ask'];
    default:
      if (dueAt) return ['with its proposer', 'live']; // who carries it out and reports
      return heldAtMachine ? ['held', 'ask'] : ['running', 'live'];
  }
}

/** What a held action waits for. Nothing here can confirm it: the second lock opens at its machine alone. */
export const held = ['It waits for the person at the machine, whose own rules ask for it. There: ', 'runner confirm', '. From here it can only be cancelled.'];

/** What "always allow" would write, before it is clicked; null where it is not known. */
export function remembered(always, { agent, type }) {
  if (!always) return null;
  if (always.refused) return { refused: true, text: 'Can\'t be always allowed: a person decides about this kind each time.' };
  const goesOn = always.askEntries?.length ? { entries: always.askEntries, text: 'goes on asking, because of' } : null;
  if (always.autonomy) return { text: `writes: agent ${agent} may do ${type} without a question, in this project`, goesOn };
  if (always.patterns?.length) return { text: 'writes to permissions.json', entries: always.patterns, goesOn };
  return { text: 'would approve this once and write nothing', goesOn };
}

/** The types of policy.md section 2 whose pending actions the page can describe. */
export const types = ['terminal', 'write_file', 'git_commit', 'git_branch_create', 'git_branch_protect', 'git_push', 'git_merge',
  'git_repo_create', 'pr_open', 'open_adr_pr', 'open_infra_pr', 'instruction_patch', 'parallelize', 'raise_max_parallel',
  'propose_execution_plan', 'assess_implementability', 'container_start', 'container_stop', 'container_remove', 'spend'];

/** The events of the log that have a name of their own in the filter. */
export const events = ['proposed_action.created', 'proposed_action.approved', 'proposed_action.denied', 'permission.granted', 'action.executed',
  'action.failed', 'action.held', 'autonomy.changed', 'agent.changed', 'member.changed', 'daemon.changed', 'project.changed', 'browser.changed'];

/** The states of policy.md section 12. */
export const statuses = ['pending', 'approved', 'auto_approved', 'executed', 'failed', 'denied'];
