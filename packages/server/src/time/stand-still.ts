/**
 * A timer that fires so much later than it should have shows that the node itself stood still (it was stopped, or its machine
 * slept), in ms. What others said meanwhile lies unread then, and is read after the timers have fired.
 */
export const STOOD_STILL_MS = 500;
/** After it stood still the node listens for so long before it calls anybody late, in ms. */
export const LISTENS_MS = 50;
