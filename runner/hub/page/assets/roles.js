// What a role may do, so that nobody is offered what the hub would refuse. The hub decides all the same.

const order = ['viewer', 'developer', 'maintainer', 'owner'];

/** Reports whether who looks has at least this role; true while that is not known. */
export const may = (me, least) => !me?.role || order.indexOf(me.role) >= order.indexOf(least);
