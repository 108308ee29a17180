"""A broker's store on disk, read without a broker.

* ``layouts``: the records of all files, declared with construct.
* ``commit_log``: messages and blanks of a commit log.
* ``consume_queue``, ``index_file``, ``timers``: the files that point into it.
* ``checkpoint``, ``config_files``, ``epochs``: what a broker keeps beside them.
* ``recovery``, ``java_records``, ``built_queues``: what a Java broker does at its next start.
* ``folder``: which file of a folder is what.

All but ``folder`` take bytes and return values; nothing here opens a file for writing.
"""
