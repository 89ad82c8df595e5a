const titles: Readonly<Record<string, string>> = { pca: "PCA", tsne: "t-SNE", umap: "UMAP" };

/** What people call a layout. */
export const titleOfLayout = (name: string): string => titles[name] ?? name;
