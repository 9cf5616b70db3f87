/** Runs a test as on another system. */
export async function onPlatform(platform: NodeJS.Platform, run: () => unknown): Promise<void> {
  const actual = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  Object.defineProperty(process, 'platform', { ...actual, value: platform });
  try {
    await run();
  } finally {
    Object.defineProperty(process, 'platform', actual);
  }
}
