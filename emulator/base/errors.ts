// The one error type for conditions caused by the user's input (files, options): its message is shown as it is,
// one line, lower case, naming the thing and the numbers. Anything else that is thrown is a defect of ours.

export class HostError extends Error {
  override readonly name = 'HostError';
}
