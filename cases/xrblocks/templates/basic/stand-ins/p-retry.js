// A package that browsers cannot load as it is. Nothing is asked here that could be asked again.
export class AbortError extends Error {}

export default (work) => work(1);
